"""The temperatures at which a loss holds the answers of one model against those of another: of each side, by what the models gave."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import TemperedFacts
from harness.frameworks.watch import tensors
from harness.frameworks.watch.sites import Place, site
from harness.frameworks.watch.torch_graph import single

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_KEPT, _LARGEST, _CALLS = 6, 1 << 18, 20
_EXACT = 1e-3  # of what the numbers of a row deviate by: float32, and probabilities near 0, leave that
_LEAST, _FEWEST, _ROWS = 1e-6, 8, 64

Array = np.ndarray[Any, Any]


class Tempered:
    """Told of what models give, and of losses whose two sides are distributions."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._given: deque[Any] = deque(maxlen=_KEPT)  # tensors, float[rows, classes]
        self._looked = 0

    def answered(self, call: RootCall) -> None:
        """A model has run, with gradients or without."""
        output = self._watch.losses.output_of([call]) if self._looked < _CALLS and self._watch.in_full else None
        if output is not None and output.dim() > 1 and output.shape[-1] > 1 and output.numel() <= _LARGEST:
            with self._watch.session.paused():  # who looks for where a loss is cut off is not to see this
                self._given.append(output.detach())

    def compared(self, name: str, given: dict[str, Any], place: Place | None) -> None:
        """A loss is about to be called with these arguments."""
        if name == "kl_div":
            self._softened(given.get("input"), place)
        if name not in ("kl_div", "cross_entropy") or self._looked >= _CALLS or len(self._given) < 2:
            return
        inputs, target = (tensors.array(given.get(side)) for side in ("input", "target"))
        if inputs is None or target is None or inputs.shape != target.shape or inputs.ndim < 2 or target.dtype.kind != "f":
            return
        self._looked += 1
        sides = [_rows(side) for side in (inputs, target)]
        if not given.get("log_target"):
            sides[1] = np.log(np.maximum(sides[1], _LEAST))
        found = [self._temperature(side) for side in sides]
        if found[0] is None or found[1] is None or found[0][1] == found[1][1]:
            return
        facts = self._watch.seen.tempered = self._watch.seen.tempered or TemperedFacts(site=site(place))
        facts.temperatures.append((found[0][0], found[1][0]))

    def _softened(self, output: Any, place: Place | None) -> None:
        """A teacher may have answered long ago; by what the student's answers are divided is written in their graph."""
        node: Any = getattr(output, "grad_fn", None)
        known = self._watch.seen.tempered
        if type(node).__name__ != "LogSoftmaxBackward0" or (known is not None and len(known.softened) >= _CALLS):
            return
        before = node.next_functions[0][0]
        divided = single(getattr(before, "_saved_other", None)) if type(before).__name__ == "DivBackward0" else None
        if divided is not None and divided > 0:
            known = self._watch.seen.tempered = known or TemperedFacts(site=site(place))
            known.softened.append(divided)

    def _temperature(self, side: Array) -> tuple[float, int] | None:
        """By what the answers of a model were divided before their softmax (or logarithm of it) was taken, and which model's; None where
        it is none of those that are known."""
        for number, tensor in reversed(list(enumerate(self._given))):
            answers = tensors.array(tensor) if tensor.shape[-1] == side.shape[-1] else None
            given = _rows(answers) if answers is not None else None
            if given is None or given.shape != side.shape:
                continue
            # A softmax takes one number off each row. What has come near 0 on the way tells nothing.
            kept = side > np.log(_LEAST) + 1
            rows = kept.all(1)
            if rows.sum() < _FEWEST:
                continue
            one, other = (part[rows] - part[rows].mean(1, keepdims=True) for part in (given, side))
            across = float((one * other).sum())
            if across <= 0:
                continue
            temperature = float((one * one).sum()) / across
            if np.abs(one / temperature - other).max() < _EXACT * max(1.0, float(other.std())):
                return temperature, number
        return None


def _rows(values: Array) -> Array:
    """float64[rows, classes], of many rows the first."""
    return values.reshape(-1, values.shape[-1])[:_ROWS].astype(np.float64)
