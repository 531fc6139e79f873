"""Batches that share rows with others: a window over the rows that moves by less than its width."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from harness.frameworks.watch import tensors

_ROWS, _LARGEST, _BATCHES = 8, 1 << 22, 4
_SHARED = 4  # a fourth of the rows at least

Rows = list[bytes]


class Overlaps:
    """Remembers the rows of the last training batches."""

    def __init__(self) -> None:
        self._kept: deque[Rows] = deque(maxlen=_BATCHES)

    def moved(self, inputs: Any, target: Any) -> int | None:
        """By how many rows a batch lies off from one of those before it, where the rows that both have stand in one order at the end of
        one and at the beginning of the other; the least such number. 0 where it shares none so; None where it is the first, or one of
        those again, or its rows are no rows with a target each."""
        rows = _rows(inputs, target)
        others = [other for other in self._kept if len(other) == len(rows)]
        self._kept.append(rows)
        if not rows or not others or rows in others:
            return None
        moves = range(1, len(rows) - len(rows) // _SHARED + 1)
        return next((move for move in moves for other in others if other[move:] == rows[:-move] or rows[move:] == other[:-move]), 0)


def _rows(inputs: Any, target: Any) -> Rows:
    given, wanted = tensors.array(inputs), tensors.array(target)
    if given is None or wanted is None or given.ndim < 2 or wanted.ndim < 1 or given.size > _LARGEST or given.dtype.kind not in "iuf":
        return []
    if len(given) != len(wanted) or len(given) < _ROWS:
        return []
    parts = zip(np.ascontiguousarray(given), np.ascontiguousarray(wanted), strict=True)
    found = [bytes(row.tobytes() + answer.tobytes()) for row, answer in parts]
    return found if len(set(found)) == len(found) else []
