"""PyTorch: the derivative of a loss by what a model answers, for `quantiles`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import quantiles, tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher


def committed(watch: TorchWatcher, loss: Any, calls: list[RootCall]) -> None:
    """A loss is about to go backward. Of scripts that name quantiles, until one step has told to which it pulls."""
    if watch.quantiles_told or len(watch.seen.steps) >= quantiles.STEPS or not calls or not quantiles.levels(watch.session.script):
        return
    output = watch.losses.output_of(calls)
    if output is None or not output.requires_grad or output.grad_fn is None:
        return
    with watch.session.paused():
        pull = watch.torch.autograd.grad(loss.sum(), output, retain_graph=True, allow_unused=True)[0]
    found = None if pull is None else tensors.array(pull)
    watch.quantiles_told = found is not None and quantiles.note(watch.seen, watch.session.script, found)
