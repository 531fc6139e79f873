"""Inputs of another scale than a network expects, and what would bring them to it."""

from __future__ import annotations

from typing import Any

import numpy as np

_LARGEST, _FAR, _WIDE, _NARROW, _UNEVEN = 10.0, 3.0, 3.0, 0.05, 0.01


def of(parts: list[Any], channels: int) -> dict[tuple[int, ...], tuple[Any, Any]]:
    """Mean and deviation of inputs `float[rows, ...]`, by their shape without rows; only of those that are far from 0 and 1, or in
    which one feature deviates a hundred times as much as another.

    Features are measured one by one, sequences by the axis of their features, what has more axes by the axis `channels`; both results are
    shaped to be broadcast over the inputs.
    """
    given: dict[tuple[int, ...], list[Any]] = {}
    for part in parts:
        if part.ndim > 1:
            given.setdefault(tuple(part.shape[1:]), []).append(part)
    found = {}
    for shape, batches in given.items():
        rows = np.concatenate(batches).astype(np.float32)
        kept = features(rows) if rows.ndim == 3 else channels % rows.ndim
        over = (0,) if rows.ndim == 2 else tuple(axis for axis in range(rows.ndim) if axis != kept)
        # A sum of float32 along axes that are not the last loses what a small deviation beside a large mean is made of.
        mean, std = (part.astype(np.float32) for part in (rows.mean(over, keepdims=True, dtype=np.float64),
                                                          rows.std(over, keepdims=True, dtype=np.float64)))
        even = bool((std[std > 0] >= _UNEVEN * std.max()).all())
        usual = np.abs(rows).max() <= _LARGEST and np.abs(mean).max() <= _FAR and _NARROW <= std.max() <= _WIDE and even
        if np.isfinite(rows).all() and not usual:
            found[shape] = (mean, np.maximum(std, 1e-8))
    return found


def features(rows: Any) -> int:
    """Which axis of `float[rows, ..., ...]` holds features and which steps: features differ more in their size."""
    def spread(axis: int) -> float:
        sizes = np.sqrt(np.square(rows.astype(np.float64)).mean((0, 3 - axis)))
        return float(np.log(sizes[sizes > 0]).std()) if (sizes > 0).any() else 0.0

    return 1 if spread(1) > spread(2) else 2
