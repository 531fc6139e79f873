"""Copies of a model that answer beside it in every step, and are never brought up to it: target networks."""

from __future__ import annotations

import ast
import contextlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.checks.training_facts import CopyFacts
from harness.frameworks.watch import plans, syncs, tensors, trees
from harness.frameworks.watch.sites import Place, Sites, names_of, site

_STEPS, _MOST, _MODELS, _LARGE = 40, 400, 12, 1 << 20
_ALWAYS, _HARDLY = 0.9, 0.1

Array = np.ndarray[Any, Any]
Weights = Callable[[], list[Any]]


@dataclass
class _Model:
    model: Any  # kept, so that its number is not given to another
    weights: Weights
    first: tuple[int, ...]
    place: Place | None
    given: dict[int, set[tuple[int, bool]]] = field(default_factory=dict)  # by step, what it was asked about, and whether with gradients


class Copies:
    """Told of every model that runs in training, and of steps."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._step = 0
        self._models: dict[int, _Model] = {}
        self._syncs: list[syncs.Sync] = []
        self._every: int | None = None
        self._alike = True  # whether any two models began with the same weights

    def stepped(self) -> None:
        """An optimizer step is over."""
        self._step += 1
        if self._step == 1:
            firsts = [each.first for each in self._models.values() if each.first]
            self._alike = len(set(firsts)) < len(firsts)
        if self._step == _STEPS:
            self._syncs = syncs.of(self._sites.script)
            counts = [found for sync in self._syncs if sync.every is not None and (found := self._number(sync.every)) is not None]
            self._every = min(counts) if len(counts) == len(self._syncs) and counts else None

    def _number(self, every: ast.expr) -> int | None:
        for frame in self._sites.frames():
            with contextlib.suppress(Exception):  # names that are not there
                return int(plans.value(every, names_of(frame)))
        return None

    def ran(self, model: Any, weights: Weights, given: Any, *, recorded: bool) -> None:
        """A model has run, whose `weights()` are these tensors; `recorded`: with gradients. One that is not there before the first step is
        not followed."""
        if self._step >= _MOST or not self._alike:
            return
        known = self._models.get(id(model))
        if known is None and not self._step and len(self._models) < _MODELS:
            known = self._models[id(model)] = _Model(model, weights, _marks(weights()), self._sites.place())
        if known is not None:
            marks = {(mark, recorded) for mark in _marks(trees.leaves(given, tensors.is_array))}
            known.given.setdefault(self._step, set()).update(marks)

    def facts(self, held: set[int]) -> CopyFacts | None:
        """A copy that was made before the first step and is the same after the last. `held`: weights that optimizers hold, by id."""
        if self._step < _STEPS:
            return None
        learning = [each for each in self._models.values() if held & {id(weight) for weight in each.weights()}]
        for each in self._models.values():
            steps = {number for number in each.given if number < min(self._step, _MOST)}
            if not each.first or len(steps) < _ALWAYS * min(self._step, _MOST) or any(each is other for other in learning):
                continue
            original = next((other for other in learning if other.first == each.first and _apart(each, other)), None)
            if original is None or _marks(each.weights()) != each.first or _marks(original.weights()) == original.first:
                continue
            due = [place for sync in self._syncs if (place := site(sync.place)) is not None]
            return CopyFacts(kind=type(each.model).__name__, steps=self._step, due=due, every=self._every, site=site(each.place))
        return None


def _apart(one: _Model, other: _Model) -> bool:
    """Whether a copy is asked about other rows than the model: it makes what that is to answer, as it does where the next state of a game
    stands beside this one. Of the very same rows a copy is asked that the model is not to move away from."""
    asked = {step: {mark for mark, _ in marks} for step, marks in one.given.items()}
    learnt = {step: {mark for mark, recorded in marks if recorded} for step, marks in other.given.items()}
    both = [step for step in asked if learnt.get(step)]
    return bool(both) and sum(learnt[step] <= asked[step] for step in both) <= _HARDLY * len(both)


def _marks(given: list[Any]) -> tuple[int, ...]:
    """A number for the values of each tensor; none where one cannot be read."""
    found = [tensors.array(part) for part in given]
    if any(part is None or part.size > _LARGE for part in found):
        return ()
    return tuple(zlib.crc32(np.ascontiguousarray(part).tobytes(), part.size) for part in found if part is not None)
