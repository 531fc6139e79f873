"""PyTorch: embeddings that a loss compares, and what it makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import pulls, tensors, trees

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CALLS = 3


def of_one_shape(args: Any, kwargs: Any) -> bool:
    """Whether a model is given two or three inputs of one shape."""
    given = trees.leaves([args, kwargs], tensors.is_tensor)
    return 1 < len(given) <= _CALLS and given[0].dim() > 1 and all(one.shape == given[0].shape for one in given)


def _inside(call: RootCall, inputs: list[Any]) -> list[Any]:
    """The embeddings that a model of pairs made of each of its inputs by one of its parts: the last one that it called so often."""
    for module, _ in reversed(call.embedded or []):
        made = [output for part, output in call.embedded or [] if part is module]
        if len(made) == len(inputs) and all(one.shape == made[0].shape and one.shape[1] > 1 for one in made):
            return made
    return []


def committed(watch: TorchWatcher, loss: Any, calls: list[RootCall]) -> None:
    """A loss is about to go backward. `calls`: of models, since the last one did."""
    step = watch.steps.steps + 1
    if not pulls.is_due(step) or not 0 < len(calls) <= _CALLS:
        return
    is_tensor = watch.torch.is_tensor
    given = [next(iter(trees.leaves([call.args, call.kwargs], is_tensor)), None) for call in calls]
    outputs = [call.output for call in calls]
    if len(calls) == 1 and isinstance(outputs[0], tuple | list):  # a model of pairs, that gives the embeddings of both
        outputs, given = list(outputs[0]), trees.leaves([calls[0].args, calls[0].kwargs], is_tensor)[: len(outputs[0])]
    elif len(calls) == 1 and calls[0].embedded:
        given = trees.leaves([calls[0].args, calls[0].kwargs], is_tensor)
        outputs = _inside(calls[0], given) or outputs
    alike = all(is_tensor(one) and one.requires_grad and one.dim() == 2 and one.shape == outputs[0].shape for one in outputs)
    if not alike or len(given) != len(outputs) or any(call.module is not calls[0].module for call in calls):
        return
    try:
        with watch.session.paused():
            parts = watch.torch.autograd.grad(loss.sum(), outputs, retain_graph=True, allow_unused=True)
    except RuntimeError:  # a graph that knows no derivative but by all leaves, as that of a reentrant checkpoint
        return
    read = [tuple(None if value is None else tensors.array(value) for value in part) for part in zip(given, outputs, parts, strict=True)]
    known = [(rows, made, by) for rows, made, by in read if rows is not None and made is not None and by is not None]
    if len(known) == len(read):
        pulls.note(watch.seen, watch.session.sites, step, pulls.parted(*known[0]) if len(known) == 1 else known)
