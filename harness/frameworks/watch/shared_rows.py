"""Rows of an evaluation that are among those that were just trained on."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import SharedFacts
from harness.frameworks.watch import tensors
from harness.frameworks.watch.between import Between
from harness.frameworks.watch.near_windows import NearWindows
from harness.frameworks.watch.own_rows import OwnRows
from harness.frameworks.watch.windows import Windows

_NUMBERS, _MOST_ROWS, _LARGEST = 4, 50_000, 1 << 22
_WHOLE = 0.95  # of a batch: the training rows themselves are evaluated
_MOST = 0.6  # of the trained rows that one evaluation meets: all the rows that there are are evaluated
_OWN = 0.8  # distinct values of a column, of the rows: no two rows are alike by chance
# Passes without gradients that come again after every few steps, each of which had other rows: they belong to the step, as where an agent
# acts and asks what its next state is worth.
_STEPS, _TURNS, _PASS = 4, 4, 16
_ENOUGH, _NEAR, _RARE = 200, 2, 0.02
_LOOKED_AT, _COLUMNS = 1024, 64  # rows and columns whose values are kept to count the distinct ones

Key = tuple[int, ...]


class SharedRows:
    """Told of what one model is given, in training and in evaluation; judges each evaluation against the rows since the one before."""

    def __init__(self) -> None:
        self._model: Any = lambda: None
        self._trained: dict[Key, set[int]] = {}
        self._values: dict[Key, list[np.ndarray[Any, Any]]] = {}
        self._met: set[int] = set()
        self._asked, self._source = False, None  # since the last training step; of which loader
        self._pass = [0, 0]  # rows of this evaluation that count, and those of them that were trained on
        self._steps, self._turns, self._before = 0, 0, set[int]()
        self._overlap = (0, 0)  # windows of an earlier model's evaluation, and those of them that overlap
        self._passes = False  # an evaluation has come after so many steps that it does not belong to each of them
        self._facts = SharedFacts()
        self._batch = 0  # rows of the largest one that was trained on
        self._own, self._windows, self._between, self._near = OwnRows(), Windows(), Between(), NearWindows()

    def trained(self, model: Any, given: Sequence[Any]) -> None:
        """A training step runs a model on these; the first one with floats counts."""
        self._own.trained(given)
        rows = _rows(given)
        if rows is None or model is None:
            return
        if self._model() is not model or self._asked:
            self.over()
            self._turn()
            if self._model() is not model:  # what another one was trained on is no matter of this one
                self._overlap = max(self._overlap, self._overlapping(), key=lambda found: found[1])
                self._windows, self._near = Windows(), NearWindows()
            self._model, self._trained, self._values, self._asked = weakref.ref(model), {}, {}, False
        self._steps += 1
        self._batch = max(self._batch, len(rows))
        key = rows.shape[1:]
        known = self._trained.setdefault(key, set())
        if len(known) < _MOST_ROWS:
            new = {hash(row.tobytes()): row for row in rows}
            values = self._values.setdefault(key, [])
            for mark, row in new.items():
                if mark not in known and len(values) < _LOOKED_AT:
                    plain = row.reshape(-1)
                    values.append(plain[np.linspace(0, plain.size - 1, min(_COLUMNS, plain.size)).astype(int)])
            fresh = [row for mark, row in new.items() if mark not in known]
            known.update(new)
            if fresh:
                self._windows.trained(np.stack(fresh))
                self._near.trained(np.stack(fresh))
                self._between.trained(np.stack(fresh))

    def held(self, model: Any, given: Sequence[Any], source: Any = None) -> None:
        """An evaluation does. `source`: the loader of these, where there is one; those of another are another evaluation's."""
        self._own.held(given)
        rows = _rows(given) if self._trained and self._model() is model else None
        known = self._trained.get(rows.shape[1:]) if rows is not None else None
        if rows is None or not known:
            return
        self._asked = True
        if source is not self._source:
            self.over()
            self._source = source
        marks = [hash(row.tobytes()) for row in rows]
        met = [mark for mark in marks if mark in known]
        if len(met) >= _WHOLE * len(marks):
            return
        others = rows[[mark not in known for mark in marks]]
        self._windows.held(others)
        self._near.held(others)
        self._between.held(others)
        self._met.update(met)
        self._pass = [self._pass[0] + len(marks), self._pass[1] + len(met)]

    def over(self) -> None:
        """An evaluation is over. The one that shares most is kept."""
        known = max(self._trained.values(), key=len, default=set())
        rows, shared = self._pass
        if rows and len(self._met) < _MOST * len(known) and (not self._facts.rows or shared > self._facts.shared):
            self._facts = SharedFacts(rows=rows, shared=shared, trained=len(known),
                                      alike=not any(map(_told_apart, self._values.values())))
        self._pass, self._met = [0, 0], set()

    def _turn(self) -> None:
        """Training goes on after an evaluation."""
        rows = max(self._trained.values(), key=len, default=set())
        self._passes = self._passes or self._steps > _PASS
        if 0 < self._steps <= _STEPS and not self._passes and self._before and len(rows & self._before) < len(rows) / 2:
            self._turns += 1
        self._steps, self._before = 0, rows

    def facts(self, *, cut: bool = False) -> SharedFacts | None:
        """None where no evaluation was seen of rows like those that were trained on. `cut`: the script was ended from outside, and what was
        asked last may be a part of a step."""
        if cut and self._pass[0] <= self._batch:
            self._pass, self._met = [0, 0], set()
        self.over()
        if self._turns >= _TURNS:
            self._facts = SharedFacts()
        self._facts.own = self._own.rows()
        compared, between = self._between.facts() if self._turns < _TURNS else (0, 0)
        if between:
            self._facts.compared, self._facts.between = compared, between
        self._facts.windows, self._facts.overlapping = self._overlapping() if self._turns < _TURNS else (0, 0)
        return self._facts if self._facts.rows or self._facts.own else None


    def _overlapping(self) -> tuple[int, int]:
        """Windows of the evaluation, and those that overlap with one that was trained on: number by number, or nearly."""
        found = self._windows.facts()
        near = self._near.facts() if self._facts.rows and not found[1] else (0, 0)
        return max(self._overlap, found, near, key=lambda each: each[1])


def _told_apart(values: list[np.ndarray[Any, Any]]) -> bool:
    """Is there a column of these rows in which nearly each has a value of its own, or are rows far from each other? Where rows come to be
    alike by chance, many more are alike but for a column or two (a category that is written as one column each changes in two)."""
    if not values:
        return False
    rows = np.stack(values)
    if max(len(np.unique(column)) for column in rows.T) >= _OWN * len(rows):
        return True
    changing = rows[:, [len(np.unique(column)) > 1 for column in rows.T]]
    if len(rows) < _ENOUGH or changing.shape[1] < _NUMBERS:
        return False
    near = 0
    for number, row in enumerate(changing):
        differs = (changing != row).sum(1)
        differs[number] = changing.shape[1]
        near += int(differs.min()) <= _NEAR
    return near < _RARE * len(rows)


def _rows(given: Sequence[Any]) -> np.ndarray[Any, Any] | None:
    for value in given:
        shape = tuple(getattr(value, "shape", ()))
        if len(shape) < 2 or "float" not in str(getattr(value, "dtype", "")):
            continue
        plain = tensors.array(value)
        if plain is None or not 0 < plain.size <= _LARGEST or plain[0].size < _NUMBERS or plain.dtype.kind != "f":
            return None
        # Keras trains on float32, and is asked with whatever the script has.
        rows: np.ndarray[Any, Any] = np.ascontiguousarray(plain, dtype=np.float32)
        return rows
    return None
