"""Inputs in which the target stands already: a column of a table, or a step of a window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.checks.data_facts import LeakFacts
from harness.frameworks.watch import tensors

_ROWS, _MOST_ROWS, _LARGEST = 8, 4096, 1 << 22
_FEATURES = 3  # of one or two, the target may well be what there is to learn
_DISTINCT = 6
_EXACT = 1e-4  # of the target's deviation: what float32 and a scaler leave
_SERIES = 0.5  # median correlation of neighbouring columns; nearly all of them have half of that
_STEPS = 512
_TURNS = 0.3  # of the steps of a series; of pure noise two thirds
_BEFORE, _NOISE, _OWN = 8, 0.02, 0.95  # steps; of the deviation; of the rows

Array = np.ndarray[Any, Any]


def measure(columns: Mapping[str, Any], target: Any) -> LeakFacts | None:
    """Which columns of float inputs give the target of each row exactly; None where inputs or target are of another kind.

    Inputs: float[rows, features], any column; float[rows, steps, features], or a table whose neighbouring columns run together as those
    of a window do: the last step, and of rough series the others, since whole periods before it a season gives the target as well.
    Target: one number or class id a row, float or int[rows] or [rows, 1].
    """
    wanted = tensors.array(target)
    if wanted is None or wanted.dtype.kind not in "iuf" or len(np.atleast_1d(wanted)) < _ROWS or wanted.size != len(wanted):
        return None
    wanted = wanted.reshape(-1)[:_MOST_ROWS].astype(np.float64)
    classes = np.unique(wanted)
    continuous = bool((wanted != np.floor(wanted)).any()) or len(classes) > len(wanted) // 2
    if not np.isfinite(wanted).all() or len(classes) < (_DISTINCT if continuous else 2):
        return None
    for name, value in columns.items():
        given = tensors.array(value) if value is not target else None
        if given is None or given.dtype.kind != "f" or given.ndim not in (2, 3) or given.size > _LARGEST or len(given) < len(wanted):
            continue
        rows: Array = given[: len(wanted)].astype(np.float64)
        if rows[0].size < _FEATURES or not np.isfinite(rows).all():
            continue
        window = rows.ndim == 3 or _runs_together(rows)
        if window and not continuous:
            continue
        back = 0
        found = _giving(rows[:, -1].reshape(len(rows), -1) if window else rows, wanted, continuous=continuous)
        if window and not found:
            back, found = _further_back(rows, wanted)
        return LeakFacts(part=name, rows=len(rows), window=window, columns=found, features=int(rows.shape[-1]), back=back,
                         example=_example(rows[:, -1 - back].reshape(len(rows), -1) if window else rows, found, wanted) if found else [])
    return None


def _further_back(rows: Array, wanted: Array) -> tuple[int, list[int]]:
    """How many steps before the last one the target stands, and in which columns; of series that run together and are rough, and of which
    no two windows are the same: no season comes back to the last digit there, and to recall pure noise may be the task.
    """
    if len(np.unique(rows.reshape(len(rows), -1), axis=0)) < len(rows):
        return 0, []
    for back in range(1, min(rows.shape[1], _STEPS)):
        found = _giving(rows[:, -1 - back].reshape(len(rows), -1), wanted, continuous=True)
        series = {column: rows if rows.ndim == 2 else rows[:, :, column] for column in found}
        rough = [column for column, steps in series.items() if _runs_together(steps) and (_rough(steps) or _noisy(steps))]
        if rough:
            return back, rough
    return 0, []


def _rough(series: Array) -> bool:
    """Whether a series turns back often, as one with noise does and a smooth season does not."""
    steps = np.diff(series, axis=1)
    return bool(((steps[:, 1:] * steps[:, :-1]) < 0).mean() > _TURNS)


def _noisy(series: Array) -> bool:
    """Whether a step of a series, float[rows, steps], is more than what the ones before it lead to, and comes but once: what a season
    without noise gives is led to, or comes again."""
    last, before = series[:, -1], series[:, -1 - _BEFORE:-1]
    if len(series) < 2 * _BEFORE or before.shape[1] < _BEFORE or len(np.unique(last)) < _OWN * len(last) or last.std() == 0:
        return False
    given = np.concatenate([before, np.ones((len(before), 1))], axis=1)
    left = last - given @ np.linalg.lstsq(given, last, rcond=None)[0]
    return bool(left.std() > _NOISE * last.std())


def _runs_together(rows: Array) -> bool:
    """Whether each column of float[rows, features] goes with the next, as one step of a series does."""
    with np.errstate(all="ignore"):
        related = np.nan_to_num(np.diagonal(np.corrcoef(rows[:, :_STEPS], rowvar=False), 1))
    return float(np.median(related)) > _SERIES and float(np.quantile(related, 0.1)) > _SERIES / 2


def _giving(rows: Array, wanted: Array, *, continuous: bool) -> list[int]:
    """The columns of float[rows, features] that are the target times a number, plus another; of class ids, that have a value for each."""
    if not continuous:
        kept = [rows[wanted == value] for value in np.unique(wanted)]
        steady = np.all([(part == part[:1]).all(0) for part in kept], axis=0)
        apart = [len(np.unique([part[0, column] for part in kept])) == len(kept) for column in range(rows.shape[1])]
        return [int(column) for column in np.flatnonzero(steady & np.array(apart))]
    middle, around = rows - rows.mean(0), wanted - wanted.mean()
    with np.errstate(all="ignore"):
        factor = (middle * around[:, None]).sum(0) / (middle**2).sum(0)
        left = np.abs(middle * factor - around[:, None]).max(0)
    return [int(column) for column in np.flatnonzero(np.nan_to_num(left, nan=np.inf) < _EXACT * around.std())]


def _example(rows: Array, found: list[int], wanted: Array) -> list[tuple[float, float]]:
    """What the first rows of `rows`, `float[rows, features]`, hold there, beside their targets."""
    return [(float(row[found[0]]), float(answer)) for row, answer in zip(rows[:4], wanted[:4], strict=True)]
