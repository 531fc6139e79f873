"""Whether any column of many rows goes with their labels, be it ever so little: of a market, of weather, of what people will do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.checks.probe_facts import WeakFacts

_WIDE, _CLASSES = 256, 50
_CHANCE = 3.0  # standard errors of a correlation of nothing with nothing

Array = np.ndarray[Any, Any]


def measure(rows: list[Any], labels: Array) -> WeakFacts | None:
    """`rows`: numbers of one shape; `labels`: classes `int[rows]`, or targets `float[rows]` or `float[rows, columns]`. None where there are
    too many columns or classes."""
    first = np.shape(rows[0])
    if math.prod(first) > _WIDE or any(np.shape(row) != first for row in rows):
        return None
    columns = np.stack([np.asarray(row, dtype=np.float64).reshape(-1) for row in rows])
    classes = np.unique(labels) if labels.ndim == 1 and labels.dtype.kind in "iub" else np.zeros(0)
    if len(classes) > _CLASSES or not np.isfinite(columns).all() or not np.isfinite(labels).all():
        return None
    # Of two classes one says it all.
    wanted = (labels[:, None] == classes[len(classes) == 2:]) if len(classes) else labels.reshape(len(labels), -1)
    related = np.abs(_scaled(columns).T @ _scaled(wanted.astype(np.float64))) / len(rows)
    # The largest of several correlations of nothing is larger: by its distribution, sqrt(z^2 + 2 ln k).
    return WeakFacts(rows=len(rows), correlation=float(related.max()),
                     chance=math.sqrt((_CHANCE**2 + 2 * math.log(related.size)) / len(rows)))


def _scaled(columns: Array) -> Array:
    """Of mean 0 and deviation 1; a constant one is 0."""
    centred = columns - columns.mean(0)
    spread = centred.std(0)
    scaled: Array = centred / np.where(spread > 0, spread, np.inf)
    return scaled
