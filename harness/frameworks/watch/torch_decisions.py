"""Answers that a script makes of a model's outputs by hand: rounded, or compared with a threshold.

A model's outputs are followed through calls that only move numbers around. What turns them into probabilities ends the trail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.observation import DecisionFacts
from harness.frameworks.watch import tensors, trees

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_MOVING = frozenset(("cat", "concat", "stack", "squeeze", "unsqueeze", "view", "reshape", "flatten", "detach", "cpu", "float", "double",
                     "to", "contiguous", "clone", "__getitem__", "transpose", "permute", "select", "ravel", "data"))
_COMPARING = frozenset(("gt", "ge", "lt", "le", "__gt__", "__ge__", "__lt__", "__le__", "greater", "greater_equal", "less", "less_equal"))
_FOLLOWED, _LARGEST = 400, 1 << 16
_KEPT = 20


class Decisions:
    """Listens while an evaluation has outputs to follow."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._followed: dict[int, Any] = {}

    @property
    def listening(self) -> bool:
        return bool(self._followed)

    def offered(self, output: Any) -> None:
        """A model has answered in an evaluation. Only scores of a loss that applies the sigmoid itself are worth following."""
        if tensors.is_tensor(output) and output.is_floating_point() and self._watch.on_cpu(output) and any(
                call.name == "bce_with_logits" for call in self._watch.seen.loss_calls):
            self._follow(output)

    def over(self) -> None:
        """The evaluation is over."""
        self._followed = {}

    def _follow(self, tensor: Any) -> None:
        if len(self._followed) < _FOLLOWED and tensor.numel() <= _LARGEST:
            self._followed[id(tensor)] = tensor  # kept, so that its number is not given to another

    def saw(self, function: Any, args: Any, result: Any) -> None:
        """One call of torch outside models."""
        name = str(getattr(function, "__name__", ""))
        if name == "__get__":
            name = str(getattr(getattr(function, "__self__", None), "__name__", ""))
        if name not in _MOVING and name not in _COMPARING and name not in ("round", "round_"):
            return
        given = [tensor for tensor in trees.leaves(args, tensors.is_tensor) if id(tensor) in self._followed]
        if not given:
            return
        if name in _MOVING:
            for made in trees.leaves(result, tensors.is_tensor):
                self._follow(made)
        elif name in _COMPARING:
            threshold = _number(args[1] if len(args) > 1 else None)
            if threshold is not None:
                self._decided("compare", given[0], threshold)
        else:
            self._decided("round", given[0], None)

    def _decided(self, how: str, scores: Any, threshold: float | None) -> None:
        facts = self._watch.seen.evaluation.decisions
        if len(facts) < _KEPT and scores.numel():
            plain = scores.detach().float()
            facts.append(DecisionFacts(
                how=how, threshold=threshold, values=plain.numel(), minimum=float(plain.min()), maximum=float(plain.max()),
                lost=int(((plain > 0) & (plain <= 0.5)).sum()), odd=int(((plain.round() < 0) | (plain.round() > 1)).sum()),
                site=self._watch.session.sites.here()))


def _number(value: Any) -> float | None:
    if tensors.is_tensor(value):
        return float(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, int | float) else None
