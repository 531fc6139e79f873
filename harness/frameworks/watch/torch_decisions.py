"""Answers that a script makes of a model's outputs by hand: rounded, or compared with a threshold.

A model's outputs are followed through calls that only move numbers around. What turns them into probabilities ends the trail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.metric_facts import DecisionFacts
from harness.frameworks.watch import tensors, trees

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_MOVING = frozenset(("cat", "concat", "stack", "squeeze", "unsqueeze", "view", "reshape", "flatten", "detach", "cpu", "float", "double",
                     "to", "contiguous", "clone", "__getitem__", "transpose", "permute", "select", "ravel", "data"))
# Scores of some of the classes, no longer one for every answer.
_CHOOSING = frozenset(("max", "amax", "topk"))
_COMPARING = frozenset(("gt", "ge", "lt", "le", "__gt__", "__ge__", "__lt__", "__le__", "greater", "greater_equal", "less", "less_equal"))
_PAIRING = frozenset(("sub", "__sub__", "rsub", "__rsub__", "subtract", "eq", "__eq__", "ne", "__ne__", "mse_loss", "l1_loss",
                      "huber_loss", "smooth_l1_loss"))
_ANSWERING = frozenset(("round", "round_", "sigmoid", "softmax", "log_softmax", "argmax", "exp", "clamp", "relu", "tanh", "int", "long",
                        "bool", "mul", "__mul__", "div", "__truediv__", "add", "__add__", *_COMPARING))
_LOOKED_AT = _MOVING | _CHOOSING | _ANSWERING | _PAIRING
_EQUAL = frozenset(("eq", "__eq__", "ne", "__ne__"))
_FOLLOWED, _LARGEST = 400, 1 << 20
_KEPT = 20


class Decisions:
    """Listens while an evaluation has outputs to follow."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self.over()

    @property
    def listening(self) -> bool:
        return self._count > 0

    def offered(self, output: Any, given: list[Any] | None) -> None:
        """A model has answered in an evaluation. As `raw` its scores are followed where a loss applies the sigmoid to them itself.

        `given`: the inputs, where no loader brought them and their labels.
        """
        if tensors.is_tensor(output) and output.is_floating_point() and tensors.readable(output):
            self._follow(output, raw=any(call.name == "bce_with_logits" for call in self._watch.seen.loss_calls))
            if given is not None and output in self._followed:
                self._asked[output] = given

    def over(self) -> None:
        """The evaluation is over."""
        # Nothing is kept alive: with gradients, an evaluation would grow by all its graphs.
        table = self._watch.torch.utils.weak.WeakTensorKeyDictionary
        self._followed: Any = table()  # whether they are raw, by tensors
        self._asked: Any = table()  # what no loader brought, by what was made of it
        self._count = 0

    def _follow(self, tensor: Any, *, raw: bool) -> None:
        if self._count < _FOLLOWED and tensor.numel() <= _LARGEST:
            self._followed[tensor] = raw or self._followed.get(tensor, False)
            self._count += 1

    def saw(self, function: Any, args: Any, result: Any) -> None:
        """One call of torch outside models."""
        name = str(getattr(function, "__name__", ""))
        if name == "__get__":
            name = str(getattr(getattr(function, "__self__", None), "__name__", ""))
        if name not in _LOOKED_AT:
            return
        given = [tensor for tensor in trees.leaves(args, tensors.is_tensor) if tensor in self._followed]
        if not given:
            return
        raw = [tensor for tensor in given if self._followed[tensor]]
        if name in _PAIRING:
            self._compared(name, given[0], args, result)
        elif raw and name in _COMPARING:
            threshold = _number(args[1] if len(args) > 1 else None)
            if threshold is not None:
                self._decided("compare", raw[0], threshold)
        elif raw and name in ("round", "round_"):
            self._decided("round", raw[0], None)
        if name not in _PAIRING:
            for made in trees.leaves(result, tensors.is_tensor):
                self._follow(made, raw=bool(raw) and name in _MOVING)
                if len(given) == 1 and given[0] in self._asked and made in self._followed:
                    self._asked[made] = self._asked[given[0]]

    def _compared(self, name: str, output: Any, args: Any, result: Any) -> None:
        """A comparison row by row: scores asked to be whole numbers, and an axis of length one that makes a table of all pairs."""
        both = [side for side in args[:2] if tensors.is_tensor(side)]
        if len(both) != 2 or len([side for side in both if side in self._followed]) != 1:
            return  # a number is no answer to a row, and outputs among themselves are paired on purpose
        other = next(side for side in both if side not in self._followed)
        self._watch.session.compared(output, other)
        if output in self._asked:
            self._watch.compared_by_hand(self._asked[output], other)
        if name in _EQUAL and output.is_floating_point() and not other.is_floating_point() and output.shape == other.shape:
            self._decided("equal", output, None)
        sides, rows = [tuple(side.shape) for side in both], output.numel()
        table = tensors.is_tensor(result) and tuple(result.shape) == (rows, rows)
        if rows > 1 and (table or not result.dim()) and sorted(sides, key=len) == [(rows,), (rows, 1)]:
            self._decided("pairs", output, None)

    def _decided(self, how: str, scores: Any, threshold: float | None) -> None:
        facts = self._watch.seen.evaluation.decisions
        if len(facts) < _KEPT and scores.numel():
            plain = scores.detach().float()
            facts.append(DecisionFacts(
                how=how, threshold=threshold, values=plain.numel(), minimum=float(plain.min()), maximum=float(plain.max()),
                lost=int(((plain > 0) & (plain <= 0.5)).sum()), odd=int(((plain.round() < 0) | (plain.round() > 1)).sum()),
                broken=int((plain != plain.round()).sum()),
                site=self._watch.session.sites.here()))


def _number(value: Any) -> float | None:
    if tensors.is_tensor(value):
        return float(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, int | float) else None
