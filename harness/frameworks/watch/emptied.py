"""Columns that tell the target in training, and say nothing in a later evaluation: one value in all of its rows."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import EmptiedFacts
from harness.frameworks.watch import parsed, ranks, tensors
from harness.frameworks.watch.sites import Place, names_of

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_BATCHES, _KEPT, _COLUMNS, _ROWS, _LATER, _CLASSES, _NAMED = 64, 256, 400, 200, 60, 20, 8
_VARIES = 0.8  # the largest share of one value that a column of the training may have

Array = np.ndarray[Any, Any]


class Emptied:
    """Told of the rows of trainings and evaluations."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._batches: list[tuple[Array, Array]] = []
        self._constant: dict[int, int] = {}  # column -> rows of the batches of evaluations in which it has one value
        self._varies: dict[int, bool] = {}  # column -> whether it has several in training
        self._names: set[str] = set()

    def trained(self, given: Sequence[Any], wanted: Any) -> None:
        """A batch was trained on: what the model was given, and int[rows] or float[rows] that it was to say."""
        if wanted is None or len(self._batches) >= _BATCHES:
            return
        table = _table(given, len(wanted))
        if table is not None and (not self._batches or table.shape[1] == self._batches[0][0].shape[1]):
            self._batches.append((table[:_KEPT].copy(), np.array(wanted[:_KEPT])))

    def held(self, given: Sequence[Any]) -> None:
        """A batch of an evaluation."""
        columns = self._batches[0][0].shape[1] if self._batches else 0
        table = _table(given, None) if columns else None
        if table is None or table.shape[1] != columns or len(table) < _LATER:
            return
        same = (table == table[:1]).all(0)
        for column in np.flatnonzero(same).tolist():
            if column not in self._varies:
                self._varies[column] = self._of_training(column)
            if self._varies[column]:
                if column not in self._constant and len(self._constant) < _NAMED:
                    self._names |= self._empty_names()
                self._constant[column] = self._constant.get(column, 0) + len(table)

    def _of_training(self, column: int) -> bool:
        """Whether a column varies in training."""
        values = np.concatenate([table[:, column] for table, _ in self._batches])
        return bool(np.unique(values, return_counts=True)[1].max() <= _VARIES * len(values))

    def _empty_names(self) -> set[str]:
        """Names of columns that have one value in one of the script's tables, and several in another."""
        pandas = sys.modules.get("pandas")
        frames = [value for frame in self._session.sites.frames() for value in names_of(frame).values()
                  if pandas is not None and isinstance(value, pandas.DataFrame) and len(value) >= _LATER]
        single, several = set[str](), set[str]()
        for frame in frames:
            for name in frame.columns:
                (single if frame[name].nunique(dropna=False) == 1 else several).add(str(name))
        return single & several

    def facts(self) -> EmptiedFacts | None:
        """Of the column that tells most of the target; None where that has values in all evaluations."""
        if not self._constant or sum(len(table) for table, _ in self._batches) < _ROWS:
            return None
        rows, wanted = (np.concatenate(parts) for parts in zip(*self._batches, strict=True))
        told = tells(rows, wanted)
        if told is None:
            return None
        # A model that works out its loss itself is handed the labels as well.
        told = np.where((rows == wanted.reshape(len(wanted), -1)[:, :1]).all(0), 0.0, told)
        order = np.argsort(-told)
        column = int(order[0])
        if column not in self._constant:
            return None
        return EmptiedFacts(column=column, columns=len(told), told=float(told[column]),
                            next=float(told[order[1]]) if len(told) > 1 else 0.0, rows=self._constant[column],
                            name=next(iter(self._names)) if len(self._names) == 1 else None)

    def finish(self) -> None:
        """Enter what was found."""
        found = self._session.observation.emptied = self.facts()
        if found is not None and found.name is not None:
            self._session.noted("emptied", chosen(found.name, self._session.script))


def _table(given: Sequence[Any], rows: int | None) -> Array | None:
    """Numbers, a row each, of what a model is given: float[rows, columns]; None where any part of it is more than a table or a column."""
    parts = [part for value in given for part in (value.values() if isinstance(value, dict) else value
                                                  if isinstance(value, list | tuple) else [value])]
    arrays = [tensors.array(part) for part in parts]
    plain = [array for array in arrays if array is not None and array.dtype.kind in "iuf" and array.ndim in (1, 2)]
    if not plain or len(plain) < len(arrays) or len({len(array) for array in plain}) > 1 or (rows is not None and len(plain[0]) != rows):
        return None
    table = np.concatenate([array.reshape(len(array), -1).astype(np.float64) for array in plain], axis=1)
    return table if 1 < table.shape[1] <= _COLUMNS and np.isfinite(table).all() else None


def tells(rows: Array, wanted: Array) -> Array | None:
    """How much each column, float[rows, columns], tells of what is wanted by itself, 0 to 1: the rank correlation with numbers; with
    classes the share of its ranks' deviation that lies between these. None where there is nothing to tell."""
    ranked = np.stack([ranks.of(column) for column in rows.T], axis=1)
    spread = ranked.std(0)
    spread[spread == 0] = np.inf
    if wanted.dtype.kind == "f":
        target = ranks.of(wanted)
        if target.std() == 0:
            return None
        found: Array = np.abs(((ranked - ranked.mean(0)) / spread * ((target - target.mean()) / target.std())[:, None]).mean(0))
        return found
    classes, counts = np.unique(wanted, return_counts=True)
    if not 1 < len(classes) <= _CLASSES:
        return None
    means = np.stack([ranked[wanted == each].mean(0) for each in classes])
    between: Array = np.sqrt((counts[:, None] * (means - ranked.mean(0)) ** 2).sum(0) / len(ranked)) / spread
    return between


def chosen(name: str, script: Path) -> Place | None:
    """The first line that names a column among others, in a list or tuple, or else the first that names it at all."""
    tree = parsed.tree(str(script))
    lists = [part.lineno for node in ast.walk(tree) if isinstance(node, ast.List | ast.Tuple | ast.Set)
             for part in node.elts if isinstance(part, ast.Constant) and part.value == name]
    lines = lists or [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == name]
    return (str(script), min(lines), "<module>") if lines else None
