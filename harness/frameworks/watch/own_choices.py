"""Columns that a script chooses by a statistic of its own: whether that is the choice which the labels of all rows make.

Read off the script's names when a training begins: a table, labels of its rows, and numbers by which the script takes columns. Statistics
that rank columns by two or more classes or by a number give nearly one order; which rows they were taken of tells by the columns they put
first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.sites import Place, names_in

_ROWS, _COLUMNS, _LARGEST = 40, 20, 1 << 22
_FEW, _CLASSES, _EACH = 2, 10, 5  # columns that are chosen; labels: kinds and rows of each
_SAME, _OTHERS = 0.97, 0.85  # share of the chosen columns that all rows choose, and so many of them, drawn at random, at most
_DRAWS, _PART = 5, 0.7
_TABLES = 6

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class OwnChoice:
    """Of the columns of `table`, float[rows, columns], those with the numbers `picked`; `labels`: whole numbers, int[rows]."""

    table: Array
    labels: Array
    picked: Array
    place: Place


def find(frames: Iterable[FrameType], script: Path) -> OwnChoice | None:
    """The choice that all rows make; None where some of the rows alone make it as well."""
    taken = _taken(script)
    if not taken:
        return None
    named = names_in(frames, script)
    picks = [(name, found) for name, value in named.items() if name in taken and (found := _numbers(value)) is not None]
    if not picks:
        return None
    arrays = {name: found for name, value in named.items() if (found := _read(value)) is not None}
    tables = [found for found in arrays.values() if found.ndim == 2 and len(found) >= _ROWS and found.shape[1] >= _COLUMNS][:_TABLES]
    for name, picked in picks:
        for table in tables:
            if len(picked) > table.shape[1] // 2 or picked.max() >= table.shape[1]:
                continue
            for labels in arrays.values():
                if _are_labels(labels, len(table)) and _by_all(table, labels, picked, arrays.values()):
                    return OwnChoice(table, labels.astype(int), picked, (str(script), taken[name], "<module>"))
    return None


def _taken(script: Path) -> dict[str, int]:
    """Names by which a script takes columns, `table[:, name]`, and the line on which each is first assigned."""
    tree = parsed.tree(str(script))
    names = {part.id for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)
             for part in node.slice.elts[-1:] if isinstance(part, ast.Name)
             and isinstance(node.slice.elts[0], ast.Slice) and node.slice.elts[0].lower is node.slice.elts[0].upper is None}
    lines: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and part.id in names:
                        lines.setdefault(part.id, node.lineno)
    return lines


def _read(value: Any) -> Array | None:
    values = getattr(value, "to_numpy", None)
    found = tensors.array(values() if callable(values) else value) if tensors.is_array(value) or callable(values) else None
    return found if found is not None and found.dtype.kind in "iufb" and 0 < found.size <= _LARGEST else None


def _numbers(value: Any) -> Array | None:
    """Different whole numbers from 0, of a list or an array."""
    found = np.asarray(value) if isinstance(value, list) and value and all(isinstance(part, int) for part in value) else _read(value)
    if found is None or found.ndim != 1 or found.dtype.kind not in "iu" or len(found) < _FEW:
        return None
    return found if found.min() >= 0 and len(np.unique(found)) == len(found) else None


def _are_labels(values: Array, rows: int) -> bool:
    if values.ndim != 1 or len(values) != rows or not np.isfinite(values).all() or (values != np.floor(values)).any():
        return False
    kinds, counts = np.unique(values, return_counts=True)
    return bool(2 <= len(kinds) <= _CLASSES and counts.min() >= _EACH)


def _by_all(table: Array, labels: Array, picked: Array, others: Iterable[Array]) -> bool:
    """Whether the labels of all rows choose these columns, and those of fewer rows others."""
    wanted, rng = set(picked.tolist()), np.random.default_rng(0)
    for measured in _forms(table):
        if not np.isfinite(measured).all():
            continue
        share = _shares(measured, labels, wanted)
        best = int(np.argmax(share))
        if share[best] < _SAME:
            continue
        parts = [rng.permutation(len(table))[:int(_PART * len(table))] for _ in range(_DRAWS)]
        drawn = [_shares(measured[part], labels[part], wanted)[best] for part in parts]
        # A script's own split may be among its names, and be what it has chosen by.
        own = [_shares(measured[rows], labels[rows], wanted)[best] for rows in _splits(others, len(table))]
        return float(np.mean(drawn)) <= _OTHERS and max(own, default=0.0) < share[best]
    return False


def _forms(table: Array) -> Iterator[Array]:
    measured: Array = table.astype(np.float64)
    yield measured
    if measured.min() >= 0:
        yield np.log1p(measured)


def _splits(arrays: Iterable[Array], rows: int) -> Iterator[Array]:
    """Numbers of some of the rows, and masks of them."""
    for values in arrays:
        if values.dtype.kind == "b" and values.shape == (rows,):
            yield np.flatnonzero(values)
        elif values.ndim == 1 and values.dtype.kind in "iu" and _ROWS // 2 <= len(values) < rows and values.min() >= 0 and (
                values.max() < rows) and len(np.unique(values)) == len(values):
            yield values


def _shares(table: Array, labels: Array, wanted: set[int]) -> list[float]:
    """For each statistic, the share of the wanted columns among as many that it puts first."""
    kinds = np.unique(labels)
    groups = [table[labels == kind] for kind in kinds]
    if min(map(len, groups)) < 2:
        return [0.0, 0.0, 0.0]
    means, spreads = np.stack([group.mean(0) for group in groups]), np.stack([group.var(0) for group in groups])
    sizes = np.array([len(group) for group in groups])[:, None]
    between = (sizes * (means - table.mean(0)) ** 2).sum(0)
    ranked = [between / ((sizes * spreads).sum(0) + 1e-12), (means.max(0) - means.min(0)) ** 2 / ((spreads / sizes).sum(0) + 1e-12),
              means.max(0) - means.min(0)]
    return [len(wanted & set(np.argsort(-measure)[:len(wanted)].tolist())) / len(wanted) for measure in ranked]
