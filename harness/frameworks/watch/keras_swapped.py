"""Loops with a tape that apply the gradients of some weights to others."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.training_facts import SwappedFacts
from harness.frameworks.watch.keras_model import name_of
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.session import WatchSession

_KEPT = 4
_WATCHED, _MOST = 8, 4_000_000  # steps that are compared, and numbers of a gradient up to which it is
_SAME, _OTHER = 0.999, 0.9  # cosines


class Swapped:
    """Told of every step. Weights that were asked about and change all the same are set by the script from those that it trains: a copy
    that is adapted to a task, as in first-order meta-learning."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._first: list[tuple[Any, Any]] = []

    def stepped(self, applied: list[Any], sources: list[Any], gradients: list[Any], asked: set[frozenset[int]]) -> None:
        """A step. `applied`: pairs of gradient and weight; `sources`: the weights that the last tape was asked about, with their
        `gradients`; `asked`: all that any was, by id."""
        given = {id(part[1]) for part in applied if isinstance(part, list | tuple) and len(part) == 2}
        if not given or not sources:
            return
        facts: SwappedFacts = self._session.observation.swapped
        facts.of += 1
        if given & set().union(*asked):
            if facts.of <= _WATCHED:
                self._crossed(facts, applied, sources, gradients)
            return
        if not self._first:
            facts.site = self._session.sites.here()
            self._first = [(source, np.array(numpy_of(source))) for source in sources[:_KEPT]]
        facts.steps += 1
        facts.still = all(np.array_equal(numpy_of(source), value) for source, value in self._first)

    def _crossed(self, facts: SwappedFacts, applied: list[Any], sources: list[Any], gradients: list[Any]) -> None:
        """Whether weights are given what others should have: scaled or clipped, a gradient still points where it pointed."""
        if len(sources) != len(gradients):
            return
        own = {id(source): (source, _direction(gradient)) for source, gradient in zip(sources, gradients, strict=True)}
        crossed: list[tuple[Any, Any]] = []
        for gradient, weight in (part for part in applied if isinstance(part, list | tuple) and len(part) == 2):
            ours, given = own.get(id(weight), (None, None))[1], _direction(gradient)
            if ours is None or given is None or ours.shape != given.shape or ours @ given >= _OTHER:
                continue
            crossed += [(weight, source) for source, theirs in own.values()
                        if theirs is not None and theirs.shape == given.shape and source is not weight and theirs @ given > _SAME][:1]
        if len(crossed) > 1:
            facts.crossed += 1
            facts.names = facts.names or (name_of(crossed[0][0]), name_of(crossed[0][1]))
            facts.site = facts.site or self._session.sites.here()


def _direction(gradient: Any) -> np.ndarray[Any, Any] | None:
    """float64[n] of norm 1; None of what is no dense gradient, or is zero, one number or too large."""
    if gradient is None or not hasattr(gradient, "shape") or hasattr(gradient, "indices"):
        return None
    flat = np.ravel(np.asarray(numpy_of(gradient), dtype=np.float64))
    norm = float(np.linalg.norm(flat))
    return flat / norm if 1 < flat.size <= _MOST and 0 < norm < np.inf else None
