"""Windows over a series that were held out, and are windows that are trained on but for a step or a few: nearly, for each column may have
been standardised by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_ROWS, _HELD, _WIDEST, _COLUMNS = 4000, 48, 1024, 24
_NARROWEST, _SHIFTS = 16, 12
_LOOKED_AT, _DIFFERENT = 500, 0.5  # rows, and different values of a column among these
_NEAR, _APART = 0.04, 0.25  # of a column's deviation: what a column's own scaling leaves, and what lies between any two windows
_BROAD, _MOST = 0.5, 0.85  # of a deviation, between the quarters of a column; of the columns: between two channels nothing goes on
_ALONE = 3  # windows of the training that one is a step away from: of a series that repeats itself there are many


class NearWindows:
    """Told of rows, float32[rows, ...], the numbers of which may be those of several channels."""

    def __init__(self) -> None:
        self._trained: dict[tuple[int, ...], list[Array]] = {}
        self._held: dict[tuple[int, ...], list[Array]] = {}

    def trained(self, rows: Array) -> None:
        """Rows that are trained on for the first time."""
        self._keep(self._trained, rows, _ROWS)

    def held(self, rows: Array) -> None:
        """Rows of an evaluation, apart from those that are trained on themselves."""
        self._keep(self._held, rows, _HELD)

    @staticmethod
    def _keep(kept: dict[tuple[int, ...], list[Array]], rows: Array, most: int) -> None:
        shape = rows.shape[1:]
        known = kept.setdefault(shape, []) if len(kept) <= 1 or shape in kept else []
        have = sum(map(len, known))
        if len(shape) <= 2 and _NARROWEST <= rows[0].size <= _WIDEST and have < most:
            known.append(rows[: most - have].reshape(min(len(rows), most - have), -1).copy())

    def facts(self) -> tuple[int, int]:
        """How many rows of the evaluation were compared, and how many of them are a row of the training moved by a few places."""
        looked = overlapping = 0
        for shape, parts in self._held.items():
            if parts and self._trained.get(shape):
                held, trained = np.concatenate(parts), np.concatenate(self._trained[shape])
                looked, overlapping = looked + len(held), overlapping + _moved(held, trained, int(np.prod(shape[1:])))
        return looked, overlapping


def _moved(held: Array, trained: Array, channels: int) -> int:
    """Of how many rows some row of the training holds the same numbers, one place to `_SHIFTS` places on or back."""
    wide, spread = held.shape[1], trained.std(0)
    quarters = np.quantile(trained, (0.25, 0.75), axis=0)
    some = np.sort(trained[:_LOOKED_AT], axis=0)
    different = 1 + (np.diff(some, axis=0) > 0).sum(0)
    # A pixel that is mostly empty tells nothing, and counts are alike by chance.
    varies = np.flatnonzero((spread > 0) & (quarters[1] - quarters[0] > _BROAD * spread) & (different >= _DIFFERENT * len(some)))
    if len(varies) < _NARROWEST:
        return 0
    told: set[int] = set()
    for places in range(1, _SHIFTS + 1):
        for shift in (places * channels, -places * channels):
            columns = varies[(varies + shift >= 0) & (varies + shift < wide)]
            columns = columns[np.linspace(0, len(columns) - 1, min(_COLUMNS, len(columns))).astype(int)] if len(columns) else columns
            if len(columns) >= _NARROWEST // 2:
                one, other = held[:, columns] / spread[columns], trained[:, columns + shift] / spread[columns]
                told |= {number for number, row in enumerate(one) if number not in told and _alone(np.abs(other - row))}
    return len(told)


def _alone(apart: Array) -> bool:
    """Whether a row lies beside one or two others, float[rows, columns] of distances, and far from the rest."""
    near = int(((apart < _NEAR).sum(1) >= _MOST * apart.shape[1]).sum())
    return 0 < near <= _ALONE and float(np.median(apart)) > _APART
