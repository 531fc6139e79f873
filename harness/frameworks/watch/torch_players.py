"""Two models of which one judges what the other makes: what is asked of the judge for real rows, for made ones, and by whom makes them."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from harness.checks.players_facts import PlayersFacts
from harness.frameworks.watch import trees
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CALLS, _OUTPUTS = 12, 8
_SQUASHES = {"TanhBackward": "tanh", "SigmoidBackward": "sigmoid"}
_VIEWS = ("View", "Reshape", "Unsqueeze", "Squeeze", "UnsafeView", "Transpose", "Permute", "Unflatten", "Alias")
_FOLLOWED = 6


class Players:
    """Told of every answer of a model, and of the calls behind a loss. Looks where two optimizers are at work, at the first steps."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._made: deque[tuple[int, Any]] = deque(maxlen=_OUTPUTS)  # by model, weakly, what others than a judge have answered
        self._known: dict[int, PlayersFacts] = {}

    def answered(self, call: RootCall) -> None:
        """A model has run."""
        if self._watch.torch.is_tensor(call.output) and call.output.dim() > 1:
            self._made.append((id(call.module), weakref.ref(call.output)))

    def trained(self, loss: Any, calls: list[RootCall]) -> None:
        """A loss is about to go backward through these calls."""
        if len(self._watch.steps.known_optimizers()) < 2 or loss.numel() != 1 or not loss.requires_grad:
            return
        judged = [(call, given) for call in calls if (given := self._rows(call)) is not None]
        outputs = [call.output for call, _ in judged]
        if not outputs:
            return
        pulls = self._watch.torch.autograd.grad(loss, outputs, retain_graph=True, allow_unused=True)
        for (call, given), pull in zip(judged, pulls, strict=True):
            if pull is not None:
                self._note(call, given, float(pull.sign().mean()))

    def _rows(self, call: RootCall) -> Any:
        """What a model was asked to judge, `float[rows, ...]`, where it answered with one number a row."""
        output, is_tensor = call.output, self._watch.torch.is_tensor
        parts = trees.leaves([call.args, call.kwargs], is_tensor)
        given = next((part for part in parts if part.is_floating_point() and part.dim() > 1), None)
        if given is None or not is_tensor(output) or not output.requires_grad or output.numel() != len(given) or len(given) < 2:
            return None
        return None if given.requires_grad and given.grad_fn is None else given  # where a penalty is measured

    def _note(self, call: RootCall, given: Any, pull: float) -> None:
        facts = self._known.setdefault(id(call.module), PlayersFacts())
        kind = facts.through if given.grad_fn is not None else facts.made if self._is_made(call, given) else facts.real
        if len(kind) >= _CALLS:
            return
        kind.append(pull)
        values = given.detach()
        low, high = float(values.min()), float(values.max())
        if kind is facts.real:
            facts.real_low, facts.real_high = min(facts.real_low, low), max(facts.real_high, high)
        elif kind is facts.through:
            facts.squashed = facts.squashed or _squashed(given.grad_fn)
            facts.below = max(facts.below, float((values < 0).float().mean()))
            facts.site = facts.site or site(call.place)

    def _is_made(self, call: RootCall, given: Any) -> bool:
        for module, known in self._made:
            tensor = known()
            if module != id(call.module) and tensor is not None and tensor.numel() == given.numel() and (
                    tensor is given or tensor.data_ptr() == given.data_ptr()):
                return True
        return False

    def facts(self) -> PlayersFacts | None:
        """Of the one model that is asked about all three kinds of rows; None where there is none, or more."""
        found = [facts for facts in self._known.values() if facts.through and facts.real and facts.made]
        return found[0] if len(found) == 1 else None


def _squashed(node: Any) -> str:
    """The function that a tensor came out of, whatever shape it was given since; nothing where that has no bounds."""
    for _ in range(_FOLLOWED):
        name = type(node).__name__
        found = next((kind for start, kind in _SQUASHES.items() if name.startswith(start)), "")
        if found or not name.startswith(_VIEWS) or not node.next_functions:
            return found
        node = node.next_functions[0][0]
    return ""
