"""Whether some weights are a running average of those that a model has had on its way, and of which decay."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.average_facts import AverageFacts
from harness.frameworks.watch import parsed, syncs
from harness.frameworks.watch.sites import Place, site

_NEAR = 0.01  # of the way that the average has come
_EVERY = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 50, 64, 100)
_RATES = np.geomspace(1e-5, 0.5, 120)
_LEAST = 10  # updates
_MODELS, _WEIGHTS, _ENTRIES = 3, 6, 24
_STEPS = 20_000
_OFTEN = 0.5  # of the steps

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Average:
    """`average = decay * average + (1 - decay) * weights` after every `every` steps; `zeros`: begun from them, else from the first draw."""

    decay: float
    every: int
    updates: int
    zeros: bool


@dataclass
class Followed:
    """A model that is trained, and some entries of its weights: before the first step and after each."""

    model: Any
    path: list[Array]


@dataclass
class Met:
    """Other weights than those of the last step, asked after so many `steps`. `rows`, `changed`: as in `AverageFacts`."""

    followed: Followed
    weights: Array
    steps: int
    place: Place | None
    rows: int = 0
    changed: int | None = None


class Averages:
    """Told of the models that are trained, of steps, and of what is asked without gradients. `weights`: the list of a model's weights,
    empty where it has none yet; `some`: reads so many entries of one, evenly spread, or None where it cannot be read."""

    def __init__(self, weights: Callable[[Any], list[Any]], some: Callable[[Any, int], Array | None]) -> None:
        self._weights, self._some = weights, some
        self._followed: dict[int, Followed] = {}
        self._met: Met | None = None
        self._when: list[int] = []  # steps after which something was met
        self._begun = False

    def trains(self, model: Any) -> None:
        """A model is about to take a step: before its first one it is what it was made or loaded as."""
        if not self._begun and id(model) not in self._followed and len(self._followed) < _MODELS:
            entries = self._entries(model)
            if entries is not None:
                self._followed[id(model)] = Followed(model, [entries])

    def stepped(self) -> None:
        """An optimizer step is over."""
        self._begun = True
        for known in self._followed.values():
            entries = self._entries(known.model) if len(known.path) <= _STEPS else None
            if entries is not None:
                known.path.append(entries)

    def asked(self, model: Any, place: Callable[[], Place | None]) -> Met | None:
        """A model runs without gradients; returns what is met, where it is new: weights of the make of one that is trained, and others."""
        if not self._begun:
            return None
        shapes = self._shapes(model)
        known = next((each for each in self._followed.values() if self._shapes(each.model) == shapes), None)
        if known is None or len(known.path) > _STEPS or (self._met is not None and self._met.steps == len(known.path) - 1):
            return None
        entries = self._entries(model)
        if entries is None or np.array_equal(entries, known.path[-1]):
            return None
        self._met = Met(known, entries, len(known.path) - 1, place())
        self._when.append(self._met.steps)
        return self._met

    def facts(self, script: Path, *, planned: int | None, cut: bool, whole: int | None) -> AverageFacts | None:
        """What was asked last, if it was after the last step. `cut`: the training was not watched to its end, which is after `planned`
        steps, if that is known; `whole`: the steps before it was led to its evaluations faster, if it was. What is asked in every step is a
        part of the training, such as a target network, and not what is evaluated."""
        met = self._met
        taken = min(whole or _STEPS, len(met.followed.path) - 1) if met is not None else 0
        if sum(step < taken for step in self._when) > _OFTEN * taken:
            return None
        if met is None or (cut and planned is None) or (not cut and met.steps < len(met.followed.path) - 1):
            return None
        found = fitted(np.stack(met.followed.path[:met.steps + 1]), met.weights)
        if found is None:
            return None
        place = written(script, found.decay) or next((sync.place for sync in syncs.of(script)), None)
        return AverageFacts(
            kind=type(met.followed.model).__name__, decay=found.decay, updates=found.updates, every=found.every,
            begun="zeros" if found.zeros else "the first draw", planned=planned // found.every if cut and planned is not None else None,
            rows=met.rows, changed=met.changed, asked=site(met.place), site=site(place))

    def _shapes(self, model: Any) -> list[tuple[int, ...]]:
        return [tuple(weight.shape) for weight in self._weights(model)]

    def _entries(self, model: Any) -> Array | None:
        """Some entries of some weights, always the same ones; float64."""
        weights = self._weights(model)
        parts = [self._some(weight, _ENTRIES) for weight in weights[::max(1, len(weights) // _WEIGHTS)]]
        if not parts or any(part is None for part in parts):
            return None
        joined: Array = np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
        return joined


def fitted(path: Array, met: Array) -> Average | None:
    """`path`: `(steps + 1, entries)`, some entries of a model's weights before and after each step; `met`: `(entries,)`, the same ones of
    what may be their average. None where no decay gives them, or where they are no other than the model has had itself."""
    span = float(np.linalg.norm(path - path[0], axis=1).max())
    if len(path) <= _LEAST or not span or np.any(np.all(path == met, axis=1)):
        return None
    # An average may be begun before the first step, from nothing, or by its own first update.
    for begun, first in ((path[0], 0), (np.zeros_like(met), 0), (path[1], 1)):
        for every in _EVERY:
            ways = path[first + every::every]
            if len(ways) < _LEAST:
                break
            found = _best(ways, begun, met)
            if found is not None:
                return Average(found, every, len(ways), zeros=not begun.any())
    return None


def _best(ways: Array, begun: Array, met: Array) -> float | None:
    rates = _RATES
    for _ in range(4):
        errors = _errors(ways, begun, met, rates)
        best = int(errors.argmin())
        low, high = rates[max(0, best - 1)], rates[min(len(rates) - 1, best + 1)]
        rates = np.geomspace(low, high, 24)
    errors = _errors(ways, begun, met, rates)
    best = int(errors.argmin())
    return 1 - float(rates[best]) if errors[best] < _NEAR * float(np.linalg.norm(met - begun)) else None


def _errors(ways: Array, begun: Array, met: Array, rates: Array) -> Array:
    kept = np.repeat(begun[None], len(rates), axis=0)
    share = rates[:, None]
    for weights in ways:
        kept += share * (weights - kept)
    errors: Array = np.linalg.norm(kept - met, axis=1)
    return errors


def written(script: Path, decay: float) -> Place | None:
    """Where a script writes a decay, or what it lacks to one, out as a number; None where it does so nowhere or in several places."""
    wanted = (decay, 1 - decay)
    lines = {node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Constant) and isinstance(node.value, float)
             and any(abs(node.value - value) < 0.05 * (1 - decay) for value in wanted)}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None
