"""Columns that are made of the labels, group by group, each row's own label among them: told by the numbers.

The mean of a group's labels, smoothed or not, standardised or not, is such that the sum of the labels is an exact linear function of the
value, of the group's size and of their product. What the label itself adds is what is lost when each row's own is left out of its mean.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from harness.checks.table_facts import OwnMeanFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place, names_in, site

_ROWS, _MOST, _COLUMNS, _TABLES = 60, 200_000, 200, 8
_GROUPS, _KINDS = 20, 6  # and values of their means
_EXACT = 1e-4  # of the sums' deviation, that is not explained
_TWO, _PARTS = 2, 6
_SAMPLE, _NO_TWO = 1000, 0.98
_SECONDS = 1.0
_GROUPING = ("groupby", "bincount")

Array = np.ndarray[Any, Any]


def find(frames: Iterable[FrameType], script: Path) -> OwnMeanFacts | None:
    """The column of a table among the names of a script from which most is lost without each row's own label."""
    named = names_in(frames, script)
    tables, labels, keys = _read(named.values())
    parts = _parts(named.values())
    found: list[OwnMeanFacts] = []
    ends = time.monotonic() + _SECONDS
    for table in tables[:_TABLES]:
        some = [part for part in parts if len(part) == len(table) or part.max() < len(table)][:_PARTS]
        for column in range(min(table.shape[1], _COLUMNS)):
            if time.monotonic() < ends and _repeats(table[:, column]):
                whole = list(_of_column(table[:, column], labels, keys, column, table.shape[1]))
                found += whole or _of_parts(table[:, column], some, labels, keys, (column, table.shape[1]), ends)
    best = max(found, key=lambda facts: facts.told - facts.without, default=None)
    if best is not None:
        best.site = site(_made(script))
    return best


def _read(values: Iterable[Any]) -> tuple[list[Array], list[Array], list[Array]]:
    """Tables float[rows, columns]; what may be labels of their rows, float[rows]; and what may say which group a row is in, int[rows]."""
    tables: list[Array] = []
    labels: list[Array] = []
    keys: list[Array] = []
    for value in values:
        if hasattr(value, "select_dtypes"):
            numbers = value.select_dtypes("number")
            labels += [np.asarray(numbers[name], dtype=np.float64) for name in numbers.columns if numbers[name].nunique() == _TWO]
            keys += [np.unique(np.asarray(value[name].astype(str)), return_inverse=True)[1]
                     for name in value.select_dtypes(exclude="floating").columns if len(value) <= _MOST]
        elif tensors.is_tensor(value) or isinstance(value, np.ndarray):
            found = tensors.array(value)
            if found is None or found.dtype.kind not in "iufb" or found.ndim not in (1, 2):
                continue
            if found.ndim == 2 and found.shape[1] > 1:
                tables.append(found.astype(np.float64))
                continue
            labels.append(found.reshape(-1).astype(np.float64))
            if found.dtype.kind in "iu":
                keys.append(np.unique(found, return_inverse=True)[1].reshape(-1))
    return [table for table in tables if _ROWS <= len(table) <= _MOST], labels, keys


def _parts(values: Iterable[Any]) -> list[Array]:
    """What may be the numbers of some rows of a table, int[rows]: those that stand in no order or with gaps, each once, and the index of
    a table that was taken out of another."""
    parts = [np.asarray(value.index if hasattr(value, "select_dtypes") else value) for value in values
             if hasattr(value, "select_dtypes") or (isinstance(value, np.ndarray) and value.ndim == 1)]
    return [part for part in parts if part.dtype.kind in "iu" and _ROWS <= len(part) <= _MOST and part.min() >= 0
            and part.max() >= len(part) and len(np.unique(part)) == len(part)]


def _of_parts(values: Array, parts: list[Array], labels: list[Array], keys: list[Array], column: tuple[int, int], ends: float
              ) -> Iterator[OwnMeanFacts]:
    """The same of some rows only, the `values` of which, or of all rows, are these: means of all rows' labels, their own among them.
    `column`: its number, and how many there are."""
    for part in parts:
        own = values if len(part) == len(values) else values[part] if part.max() < len(values) else values[:0]
        if len(own) < _ROWS or not np.isfinite(own).all() or own.std() == 0:
            continue
        for wanted in (each for each in labels if len(each) > part.max() and np.isfinite(each).all() and each.std() > 0):
            for group in (key for key in keys if len(key) == len(wanted) and time.monotonic() < ends):
                yield from _means(own, part, group, wanted, *column)


def _means(own: Array, part: Array, group: Array, wanted: Array, column: int, columns: int) -> Iterator[OwnMeanFacts]:
    counts, sums = np.bincount(group), np.bincount(group, weights=wanted)
    here, size = np.unique(group[part]), counts[group[part]]
    scaled = (own - own.mean()) / own.std()
    value = np.zeros(len(counts))
    value[group[part]] = scaled
    several = size > 1
    if not len(here) >= _GROUPS or len(np.unique(own)) < _KINDS or (value[group[part]] != scaled).any() or several.sum() < _ROWS:
        return
    terms = np.stack([value * counts, counts, value, np.ones(len(counts))], 1)[here]
    if np.linalg.matrix_rank(terms) < terms.shape[1] and len(np.unique(counts[here])) > _TWO:
        return
    left = sums[here] - terms @ np.linalg.lstsq(terms, sums[here], rcond=None)[0]
    if left.std() > _EXACT * sums[here].std():
        return
    told = wanted[part][several]
    others = (sums[group[part]][several] - told) / (size[several] - 1)
    whole, without = (float(np.corrcoef(side, told)[0, 1]) if side.std() and told.std() else 0.0 for side in (own[several], others))
    yield OwnMeanFacts(column=column, columns=columns, groups=len(here), rows=len(part), told=abs(whole), without=max(0.0, without),
                       part=True)


def _repeats(values: Array) -> bool:
    """Whether some of the values come several times, as far as a sample tells."""
    some = values[::max(1, len(values) // _SAMPLE)]
    return len(np.unique(some)) < _NO_TWO * len(some)


def _of_column(values: Array, labels: list[Array], keys: list[Array], column: int, columns: int) -> Iterator[OwnMeanFacts]:
    if not np.isfinite(values).all() or values.std() == 0:
        return
    kinds, by_value = np.unique(values, return_inverse=True)
    if not _KINDS <= len(kinds) <= len(values) // 2:
        return
    scaled = (kinds - values.mean()) / values.std()
    # Groups that happen to have the same mean have one value: what the rows were grouped by tells them apart.
    for group in [by_value, *(key for key in keys if len(key) == len(values))]:
        counts = np.bincount(group)
        own = np.zeros(len(counts))
        own[group] = scaled[by_value]
        if not _GROUPS <= len(counts) <= len(values) // 2 or (own[group] != scaled[by_value]).any():
            continue
        terms = np.stack([own * counts, counts, own, np.ones(len(counts))], 1)
        for wanted in (part for part in labels if len(part) == len(values) and np.isfinite(part).all() and part.std() > 0):
            sums = np.bincount(group, weights=wanted)
            left = sums - terms @ np.linalg.lstsq(terms, sums, rcond=None)[0]
            several = counts[group] > 1
            if left.std() > _EXACT * sums.std() or several.sum() < _ROWS or np.array_equal(wanted, values):
                continue
            told, size = wanted[several], counts[group][several]
            others = (sums[group][several] - told) / (size - 1)
            whole, without = (float(np.corrcoef(side, told)[0, 1]) if side.std() and told.std() else 0.0
                              for side in (values[several], others))
            yield OwnMeanFacts(column=column, columns=columns, groups=len(counts), rows=len(values), told=abs(whole),
                               without=max(0.0, without))


def _made(script: Path) -> Place | None:
    """The first line on which labels are taken together by groups; where that is inside of a function, one that calls it, and so on up to
    where the script itself runs."""
    tree = parsed.tree(str(script))
    call = next((node for node in parsed.calls(tree) if name_of(node[0].func) in _GROUPING), None)
    return (str(script), parsed.led_back(tree, *call)[0].lineno, "<module>") if call is not None else None
