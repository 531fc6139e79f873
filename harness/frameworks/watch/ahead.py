"""Inputs that look ahead: a column which is a mean over values of a series, and the target one of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.probe_facts import AheadFacts

_ROWS, _STEPS, _BACK, _COLUMNS = 100, 32, 8, 256
_EXACT, _WITHOUT = 1e-3, 0.05  # of the target's deviation: what float32 leaves, and what is left where the column is missing
_PART = 0.02  # of the largest factor, under which one is none
_TAPS = 3  # values that are averaged
_GOES = 0.5  # correlation of neighbours in a series

Array = np.ndarray[Any, Any]


def measure(rows: list[Any], wanted: Array) -> AheadFacts | None:
    """Of `float[steps, features]` (windows) or `float[features]` a row, and their targets `float[rows]`: the first column from which the
    target comes out exactly once values before it are taken away.

    Such a column is the target's own sum with these, each with a positive weight: a moving average that reaches beyond its row.
    """
    if len(rows) < _ROWS or wanted.ndim > 1 or not wanted.std() or any(np.shape(row) != np.shape(rows[0]) for row in rows):
        return None
    whole: Array = np.stack([np.asarray(row, dtype=np.float64) for row in rows])
    if not np.isfinite(whole).all() or whole.ndim not in (2, 3) or whole[0].size > 1 << 14:
        return None
    return _of_windows(whole, wanted) if whole.ndim == 3 else _of_table(whole, wanted)


def _of_windows(whole: Array, wanted: Array) -> AheadFacts | None:
    steps, features = whole.shape[1:]
    if features < 2 or features > _STEPS or steps < _TAPS:
        return None
    for series in range(features):
        past = whole[:, -_STEPS:, series]
        if not _runs_together(past, wanted):
            continue
        for column in (number for number in range(features) if number != series):
            for back in range(min(_BACK, steps)):
                taps = _mean_of(past, whole[:, -1 - back, column], wanted)
                if taps:
                    return AheadFacts(column=column, features=features, window=True, back=back, taps=taps)
            taps = _over_a_gap(whole[:, -_STEPS:, series], whole[:, -_STEPS:, column], wanted)
            if taps:
                return AheadFacts(column=column, features=features, window=True, taps=taps)
    return None


def _over_a_gap(series: Array, means: Array, wanted: Array) -> int:
    """Of how many values a column is a mean that reaches the target, though more steps lie between: the means of the last steps tell these
    values too. 0 where it is none."""
    middle = series.shape[1] // 2
    # Inside of the window all of the values that a mean is made of are known.
    left, weights = _fitted(series, means[:, middle])
    largest = weights.max()
    if left > _EXACT or largest <= 0 or (weights < -_PART * largest).any():
        return 0
    parts = np.flatnonzero(weights > _PART * largest)
    reach = int(parts.max()) - middle
    if len(parts) < _TAPS or reach < 1 or len(wanted) < 3 * (series.shape[1] + reach):
        return 0
    alone, together = _fitted(series, wanted)[0], _fitted(np.column_stack([series, means[:, -reach:]]), wanted)[0]
    return len(parts) if together <= _EXACT and alone >= _WITHOUT else 0


def _fitted(columns: Array, wanted: Array) -> tuple[float, Array]:
    """What a straight line leaves open at most, by the deviation of what is wanted, and its weights."""
    around, middle = columns - columns.mean(0), wanted - wanted.mean()
    if not middle.std():
        return 0.0, np.zeros(columns.shape[1])
    weights, *_ = np.linalg.lstsq(around, middle, rcond=None)
    return float(np.abs(middle - around @ weights).max() / middle.std()), weights


def _of_table(whole: Array, wanted: Array) -> AheadFacts | None:
    features = whole.shape[1]
    if features > _COLUMNS:
        return None
    for column in range(features):
        # The series is where it is longest: neighbouring columns that go with each other.
        others = [number for number in range(features) if number != column]
        past = _longest(whole[:, others])
        taps = _mean_of(past, whole[:, column], wanted) if past is not None and _runs_together(past, wanted) else 0
        if taps:
            return AheadFacts(column=column, features=features, window=False, taps=taps)
    return None


def _longest(columns: Array) -> Array | None:
    """The longest run of columns each of which goes with the next, at most so many of its last."""
    with np.errstate(all="ignore"):
        related = np.nan_to_num(np.diagonal(np.corrcoef(columns, rowvar=False), 1)) > _GOES if columns.shape[1] > 1 else np.zeros(0)
    best, start = (0, 0), 0
    for number, goes in enumerate([*related, False]):
        if not goes:
            best, start = max(best, (number - start + 1, start)), number + 1
    length, start = best
    return columns[:, start:start + length][:, -_STEPS:] if length >= _TAPS else None


def _runs_together(past: Array, wanted: Array) -> bool:
    """Whether the target goes on with a series, or is what is to come on top of its last value."""
    last = past[:, -1] if past[:, -1].std() else past[:, 0]
    found = [abs(np.corrcoef(side, value)[0, 1]) for side in (last, past[:, 0]) for value in (wanted, wanted + last)
             if side.std() and value.std()]
    return bool(last.std() > 0 and max(found, default=0.0) > _GOES)


def _mean_of(past: Array, column: Array, wanted: Array) -> int:
    """Of how many values a column is a mean, the target and some of `past` together; 0 where it is none."""
    if column.std() == 0 or len(wanted) < 3 * past.shape[1]:
        return 0
    middle, around = wanted - wanted.mean(), np.column_stack([past, column])
    around = around - around.mean(0)
    spread = around.std(0)
    if (spread == 0).any():
        return 0
    around = around / spread
    left, *_ = np.linalg.lstsq(around[:, :-1], middle, rcond=None)
    found, *_ = np.linalg.lstsq(around, middle, rcond=None)
    without, rest = middle - around[:, :-1] @ left, middle - around @ found
    if np.abs(rest).max() > _EXACT * middle.std() or without.std() < _WITHOUT * middle.std() or found[-1] <= 0:
        return 0
    parts = found[:-1][np.abs(found[:-1]) > _PART * np.abs(found).max()]
    return len(parts) + 1 if len(parts) >= _TAPS - 1 and (parts < 0).all() else 0
