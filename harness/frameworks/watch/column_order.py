"""Numbers of an answer that stand in an order whatever the weights are: does what is wanted stand in it too?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from harness.checks.probe_facts import ColumnOrderFacts

DRAWS = 12  # of the weights: an order that comes by chance lasts through so many about once in four thousand
_COLUMNS, _ROWS = 8, 64
_AGAINST, _LEAST = 0.02, 8  # of the rows that are wanted

Array = np.ndarray[Any, Any]


def fits(wanted: Array | None) -> bool:
    """Whether these are targets, float[rows, 2 to 8], that may be asked about."""
    return wanted is not None and wanted.ndim == 2 and wanted.dtype.kind == "f" and 2 <= wanted.shape[1] <= _COLUMNS


def measure(wanted: Array, answers: Callable[[int], Iterable[Array]]) -> ColumnOrderFacts | None:
    """`wanted`: float[rows, columns]. `answers(seed)`: arrays float[rows, columns] that a model gives with weights drawn by this seed. The
    pair of columns whose order the targets break most often; None where the answers have none that these break."""
    if len(wanted) < _ROWS or not np.isfinite(wanted).all():
        return None
    apart = wanted[:, None, :] - wanted[:, :, None]  # [row, i, j]: number j less number i
    against = (apart < 0).mean(0)
    kept = (against > _AGAINST) & (against * len(wanted) >= _LEAST)
    for seed in range(DRAWS):
        for found in answers(seed):
            if not kept.any():
                return None
            if found.shape[1:] != wanted.shape[1:] or not np.isfinite(found).all():
                return None
            kept &= ((found[:, None, :] - found[:, :, None]) >= 0).all(0)
    if not kept.any():
        return None
    first, second = np.unravel_index(np.argmax(np.where(kept, against, -1.0)), kept.shape)
    pairs = [(int(one), int(other)) for one, other in np.argwhere(kept)]
    return ColumnOrderFacts(below=int(first), above=int(second), pairs=pairs, columns=wanted.shape[1], rows=len(wanted),
                        against=float(against[first, second]))
