"""Rows that are mixed with others (mixup), beside labels that are: does each label have the share of its own row?"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.data_facts import MixedFacts
from harness.frameworks.watch import tensors

_ROWS, _LEAST, _NUMBERS, _CLASSES = 1600, 256, 192, 64
_EVEN = 0.02  # shares that are as good as halves say nothing
_ROUNDING = 1e-3

Array = np.ndarray[Any, Any]


class MixedRows:
    """Told of the rows that a model is trained on, and of their labels: two classes each, with shares that add up to 1."""

    def __init__(self) -> None:
        self._rows: list[Array] = []
        self._shares: list[Array] = []
        self._count = 0

    def trained(self, given: Any, shares: Any) -> None:
        """A batch of numbers, float[rows, ...], and the shares of classes, float[rows, classes]."""
        labels = tensors.array(shares) if self._count < _ROWS else None
        if labels is None or labels.ndim != 2 or not 1 < labels.shape[1] <= _CLASSES or labels.dtype.kind != "f":
            return
        two = ((labels > _ROUNDING).sum(1) == 2) & (np.abs(labels.sum(1) - 1) < _ROUNDING)
        kept = two & (np.abs(labels.max(1) - 0.5) > _EVEN)
        rows = tensors.array(given) if kept.any() else None
        if rows is None or len(rows) != len(labels) or rows.dtype.kind != "f" or rows.ndim < 2:
            return
        flat = rows[kept].reshape(int(kept.sum()), -1)
        self._rows.append(flat[:, :: -(-flat.shape[1] // _NUMBERS)].astype(np.float32))
        self._shares.append(labels[kept].astype(np.float32))
        self._count += int(kept.sum())

    def measure(self) -> MixedFacts | None:
        """What the shares tell of the rows as they are, and exchanged: a row is its classes' means by their shares, and noise."""
        widths = {(rows.shape[1], shares.shape[1]) for rows, shares in zip(self._rows, self._shares, strict=True)}
        if self._count < _LEAST or len(widths) > 1:
            return None
        rows, shares = np.concatenate(self._rows), np.concatenate(self._shares)
        exchanged = np.where(shares > _ROUNDING, 1 - shares, 0)
        return MixedFacts(rows=len(rows), told=_told(rows, shares), exchanged=_told(rows, exchanged))


def _told(rows: Array, shares: Array) -> float:
    """The part of the variance of rows that class means by these shares explain, of rows that these were not fitted on."""
    left = whole = 0.0
    for fold in range(2):
        fitted, held = (np.arange(len(rows)) % 2 == fold), (np.arange(len(rows)) % 2 != fold)
        means = np.linalg.lstsq(shares[fitted], rows[fitted], rcond=None)[0]
        left += float(((rows[held] - shares[held] @ means) ** 2).sum())
        whole += float(((rows[held] - rows[fitted].mean(0)) ** 2).sum())
    return 1 - left / whole if whole > 0 else 0.0
