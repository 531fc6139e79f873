"""Whether a model of several layers is one straight map: halfway between two rows it answers halfway between its answers for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

LEAST_ROWS = 8
_ROUNDING, _LAYERS = 1e-4, 2  # a bend of a thousandth is one: transformers drawn with small weights bend no more before they are trained
_EPS = 1e-30

Array = np.ndarray[Any, Any]


def is_straight(plain: Array, rolled: Array, between: Array) -> bool:
    """Whether the answers `between` rows are the means of `plain` and `rolled`, each float[rows, ...]; as scores, where they are
    probabilities."""
    for one, other, middle in zip(*map(_scores, (plain, rolled, between)), strict=True):
        apart = float(np.abs(one - other).mean())
        if apart > 0 and float(np.abs(middle - (one + other) / 2).max()) < _ROUNDING * apart:
            return True
    return False


def _scores(answers: Array) -> Iterator[Array]:
    """Answers as they are, and the scores that a softmax or a sigmoid made them of."""
    given: Array = answers.astype(np.float64)
    yield given
    logs = np.log(np.clip(given, _EPS, None))
    yield logs - logs.mean(-1, keepdims=True)
    yield logs - np.log(np.clip(1 - given, _EPS, None))


def layers(shapes: Sequence[Sequence[int]], given: Sequence[int], made: Sequence[int]) -> int:
    """How many of the weights, by their shapes, are matrices of a model that goes from rows of shape `given` to rows of shape `made`; 0
    where one of them is narrow on purpose, or only one is there."""
    matrices = [shape for shape in shapes if len(shape) > 1]
    narrow = min(int(np.prod(given)), int(np.prod(made)))
    wide = all(min(shape) >= narrow for shape in matrices if len(shape) == 2)
    return len(matrices) if wide and len(matrices) >= _LAYERS else 0


def halfway(tensor: Any, rolled: Callable[[Any], Any]) -> Any:
    """Rows between a tensor's own and others of it; what `rolled` leaves alone, such as class ids, stays what it is."""
    others = rolled(tensor)
    return tensor if others is tensor else (tensor + others) / 2
