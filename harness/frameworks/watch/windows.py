"""Windows over a series that are held out, and overlap with windows that are trained on."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

Array = np.ndarray[Any, Any]
_STEPS, _MOST_ROWS, _HELD, _BYTES = 8, 2000, 400, 1 << 26
_PARTING = ("permutation", "randperm", "train_test_split", "random_split")
_DIFFERENT = 0.5  # of the windows: a series that repeats itself has fewer stretches than that


def parted(file: str) -> Place | None:
    """The only line of a script on which rows are put into a random order, or split by one."""
    lines = {node.lineno for node in ast.walk(parsed.tree(file)) if isinstance(node, ast.Call) and name_of(node.func) in _PARTING}
    return (file, lines.pop(), "<module>") if len(lines) == 1 else None


class Windows:
    """Told of rows, float32[rows, steps, ...]. Of two windows that overlap by half, one holds the first half of the other, further on."""

    def __init__(self) -> None:
        self._halves: dict[tuple[int, ...], set[int]] = {}
        self._told: dict[tuple[int, ...], int] = {}
        self._looked, self._overlapping, self._read = 0, 0, 0

    def trained(self, rows: Array) -> None:
        """Rows that are trained on for the first time."""
        half, told = rows.shape[1] // 2, self._told.get(rows.shape[1:], 0)
        if rows.shape[1] < _STEPS or told >= _MOST_ROWS:
            return
        self._told[rows.shape[1:]] = told + len(rows)
        self._halves.setdefault(rows.shape[1:], set()).update(
            hash(row[:half].tobytes()) for row in rows if float(np.ptp(row[:half])) > 0)

    def held(self, rows: Array) -> None:
        """Rows of an evaluation, apart from those that are trained on themselves."""
        halves, half = self._halves.get(rows.shape[1:], set()), rows.shape[1] // 2
        if not halves or len(halves) < _DIFFERENT * self._told[rows.shape[1:]]:
            return
        for row in rows[: _HELD - self._looked]:
            if self._read > _BYTES:
                return
            self._looked += 1
            self._read += row[:half].nbytes * (half + 1)
            self._overlapping += any(hash(row[start:start + half].tobytes()) in halves for start in range(1, rows.shape[1] - half + 1))

    def facts(self) -> tuple[int, int]:
        """How many windows of the evaluation were looked at, and how many of them overlap with one that was trained on."""
        return self._looked, self._overlapping
