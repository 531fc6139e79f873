"""Rows of an evaluation that were made out of two rows each which are trained on: they lie on the line from one to the other.

Oversampling by SMOTE puts a new row there. If it comes before the split, rows are evaluated that training knows both ends of.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Wide = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
_MOST, _ASKED, _NEAR = 6000, 400, 40
_COLUMNS, _WIDE = 4, 128
_DISTINCT, _FLAT = 0.6, 1e-3  # values of a column, of the rows; a direction's share of the widest one's spread
_STRAIGHT = 1e-6  # 1 + cosine of the angle at a row


class Between:
    """Told of rows that are trained on, and of rows that are evaluated and not among them."""

    def __init__(self) -> None:
        self._trained: list[Array] = []
        self._held: list[Array] = []

    def trained(self, rows: Array) -> None:
        """`rows`: float32[rows, columns], new ones."""
        if rows.ndim == 2 and rows.shape[1] <= _WIDE and sum(map(len, self._trained)) < _MOST:
            self._trained.append(rows)

    def held(self, rows: Array) -> None:
        """Of an evaluation."""
        if rows.ndim == 2 and rows.shape[1] <= _WIDE and sum(map(len, self._held)) < _MOST:
            self._held.append(rows)

    def facts(self) -> tuple[int, int]:
        """How many rows of the evaluation were compared, and how many of these lie between two that are trained on. Columns of few values
        do not count, since they put rows in line by chance; nor do rows of fewer than 4 columns, or that vary in fewer directions."""
        parts = [part for part in self._trained if self._held and part.shape[1] == self._held[0].shape[1]]
        if not parts:
            return 0, 0
        known = np.concatenate(parts).astype(np.float64)
        asked = np.concatenate([part for part in self._held if part.shape[1] == known.shape[1]]).astype(np.float64)
        telling = [column for column in range(known.shape[1]) if len(np.unique(known[:, column])) >= _DISTINCT * len(known)]
        known, asked = known[:, telling], asked[:, telling]
        if len(telling) < _COLUMNS or len(known) < 2 * _NEAR or not (np.isfinite(known).all() and np.isfinite(asked).all()):
            return 0, 0
        spread = np.linalg.svd(known - known.mean(0), compute_uv=False)
        if (spread > _FLAT * spread[0]).sum() < _COLUMNS:
            return 0, 0
        chosen = asked[np.linspace(0, len(asked) - 1, min(_ASKED, len(asked))).astype(int)]
        far = (known**2).sum(1) - 2 * chosen @ known.T  # squared, but for what is the same for all of a row
        nearest = np.argpartition(far, _NEAR, axis=1)[:, :_NEAR]
        return len(chosen), sum(_between(row, known[near]) for row, near in zip(chosen, nearest, strict=True))


def _between(row: Wide, near: Wide) -> bool:
    """Whether a row lies on the line between two of those near it."""
    away = near - row
    far = np.linalg.norm(away, axis=1)
    ways = away[far > 0] / far[far > 0, None]
    return bool((ways @ ways.T).min(initial=0.0) < -1 + _STRAIGHT)
