"""Do batches differ from each other by more than chance, as they do where rows come sorted; and does that order cost anything?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.probe_facts import CurveFacts, OrderFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.fitting import Fits

_COLUMNS = 64
_BATCHES, _ROWS = 16, 2
_BETWEEN = 0.1  # of all variance, beyond what batches of rows drawn at random have

Array = np.ndarray[Any, Any]


def between(batches: Sequence[Sequence[Array]]) -> float:
    """The share of the variance of rows that lies between batches, beyond chance: 0 for rows in random order, 1 where all rows of a batch
    are alike. The largest of the parts (`batches`: of each step the arrays, rows first).

    Source: the intraclass correlation of a one-way analysis of variance (Fisher 1925; Shrout and Fleiss 1979).
    """
    parts = zip(*batches, strict=False) if len(batches) >= _BATCHES else ()
    return float(max((_of_one([_numbers(array) for array in part]) for part in parts), default=0.0))


def _of_one(batches: list[Array]) -> float:
    if any(len(batch) < _ROWS or batch.shape[1:] != batches[0].shape[1:] for batch in batches):
        return 0.0
    count, sizes = len(batches), np.array([len(batch) for batch in batches])
    rows, means = sizes.sum(), np.stack([batch.mean(0) for batch in batches])
    middle = (sizes[:, None] * means).sum(0) / rows
    among = float((sizes[:, None] * (means - middle) ** 2).sum()) / (count - 1)
    within = sum(float(((batch - mean) ** 2).sum()) for batch, mean in zip(batches, means, strict=True)) / (rows - count)
    size = float(sizes.mean())
    whole = among + (size - 1) * within
    return (among - within) / whole if whole > 0 else 0.0


def _numbers(array: Array) -> Array:
    """float64[rows, n]: numbers as they are, ids by how often each (of those that share a remainder) stands in a row."""
    if not array.ndim or not array.size or array.dtype.kind not in "iufb":
        return np.zeros((0, 1))
    flat: Array = array.reshape(len(array), -1)
    if array.dtype.kind == "f" or array.dtype.itemsize == 1:
        some: Array = flat[:, :: flat.shape[1] // _COLUMNS + 1].astype(np.float64)
        some[~np.isfinite(some)] = 0.0
        return some
    found = np.zeros((len(flat), _COLUMNS))
    np.add.at(found, (np.arange(len(flat))[:, None], flat.astype(np.int64) % _COLUMNS), 1 / flat.shape[1])
    return found


def measure(fits: Fits[Any], steps: list[Any], arrays: Callable[[Any], list[Array]], seconds: float) -> OrderFacts | None:
    """Where batches differ that much: the script's steps once more in their order and in a random one, at one rate; None where they do not,
    or there is no time."""
    share = between([arrays(step) for step in steps])
    if share < _BETWEEN:
        return None
    found = OrderFacts(between=share)
    if 2 * len(steps) * fits.step_s < seconds:
        order = np.random.default_rng(0).permutation(len(steps))
        curves: list[CurveFacts] = [fits.in_order(taken, seconds) for taken in (steps, [steps[number] for number in order])]
        if len(curves[0].losses) == len(curves[1].losses) == len(steps):
            found.own, found.mixed = curves
    return found
