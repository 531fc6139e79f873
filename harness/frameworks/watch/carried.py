"""Recurrent states that go on from one batch to the next, and whether the rows of the batches do as well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from harness.checks.model_facts import CarriedFacts
from harness.frameworks.watch import tensors, trees
from harness.frameworks.watch.sites import Place, Sites, names_of, site

_STEPS, _LARGE = 2000, 1 << 20
_WIDE, _APART = 8, 0.9  # numbers in a row that tells rows apart, and the share of those in a batch that are unlike any other

Array = np.ndarray[Any, Any]


@dataclass
class _Layer:
    """What is known of a layer: the step in which it ran last, the states that it left, and what its rows were told apart by, in which
    batch of a loader."""

    step: int
    left: list[Array] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    batch: Any = None


class Carried:
    """Told of what recurrent layers are given and give in training, and of steps.

    A row that comes again in a later epoch and is followed by another row than before has no successor: its batch was drawn at random.
    """

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._step = 0
        self._layers: dict[int, _Layer] = {}
        self._begun: dict[int, bool] = {}
        self._followed: int | None = None
        self._next: dict[int, int] = {}
        self.facts: CarriedFacts | None = None

    @property
    def looks(self) -> bool:
        """Whether more steps are to be told of."""
        return self._step < _STEPS

    def stepped(self) -> None:
        """An optimizer step is over, or something has run in which there may have been one."""
        self._step += 1

    def begins(self, layer: Any, state: Any, given: Callable[[], Any], batch: Any = None, name: str = "") -> None:
        """A layer is about to run from a state, float[..., rows, units] or several, in training.

        `name`: of what is no layer of a library's, whose state is one only if it begins as nothing or as zeros. `given()`: what holds
        tensors, rows first, of which one tells the rows apart; `batch`: the one of a loader that shuffles.
        """
        known = self._layers.setdefault(id(layer), _Layer(self._step))
        if known.step == self._step and (known.left or known.rows):
            return  # once more in the same step: a sequence in pieces, or word after word
        states = _states(state)
        rows = _marks(given()) if states else []
        if self._begun.setdefault(id(layer), not name or not any(part.any() for part in states)) is False:
            return
        carried = bool(states) and _same(states, known.left)
        if carried and self.facts is None:
            self._followed = id(layer)
            self.facts = CarriedFacts(kind=name or type(layer).__name__, site=site(self._handed(state)))
        if self.facts is not None and self._followed == id(layer) and known.step == self._step - 1:
            self.facts.steps += 1
            turned = batch is not None and known.batch is not None and batch is not known.batch
            self.facts.turned += turned
            if carried:
                self.facts.drawn += turned
                self._goes_on(self.facts, known, rows)
        self._layers[id(layer)] = _Layer(self._step, [], rows, batch)

    def ended(self, layer: Any, state: Any) -> None:
        """The layer has run, and leaves this state."""
        known = self._layers.get(id(layer))
        if known is not None:
            known.left = _states(state)

    def _goes_on(self, facts: CarriedFacts, before: _Layer, rows: list[int]) -> None:
        facts.carried += 1
        for one, other in zip(before.rows, rows, strict=False):
            known = self._next.get(one)
            self._next.setdefault(one, other)
            facts.again += known is not None
            facts.same += known == other

    def _handed(self, state: Any) -> Place | None:
        """The line on which the state is handed over: of a function that has it as an argument, where that is called."""
        parts = {id(part) for part in [state, *trees.leaves(state, tensors.is_array)]}
        frames = self._sites.frames()
        frame = next((frame for frame in frames if not parts & _arguments(frame)), None)
        frame = frame or next(iter(frames[-1:]), None)
        return (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name) if frame is not None else None


def _arguments(frame: FrameType) -> set[int]:
    """Of what a function was called with, the parts of tuples and lists too."""
    code, names = frame.f_code, names_of(frame)
    values = [names.get(name) for name in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]]
    return {id(part) for value in values for part in [value, *(value if isinstance(value, tuple | list) else ())]}


def _states(state: Any) -> list[Array]:
    found = [tensors.array(part) for part in trees.leaves(state, tensors.is_array)]
    return [np.array(part) for part in found if part is not None and part.dtype.kind == "f" and part.size <= _LARGE]


def _same(one: list[Array], other: list[Array]) -> bool:
    """Whether states are among those that were left: not where they are zero."""
    return bool(one) and all(part.any() and any(np.array_equal(part, left) for left in other) for part in one)


def _marks(given: Any) -> list[int]:
    """A number for each row, of the first tensor that tells rows apart and is small enough to be read."""
    for part in trees.leaves(given, tensors.is_array):
        found = tensors.array(part)
        if found is not None and found.ndim > 1 and len(found) > 1 and found[0].size >= _WIDE and found.size <= _LARGE:
            marks = [hash(row.tobytes()) for row in found]
            return marks if len(set(marks)) >= _APART * len(marks) else []
    return []
