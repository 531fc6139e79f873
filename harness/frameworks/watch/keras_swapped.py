"""Loops with a tape that apply the gradients of some weights to others."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.training_facts import SwappedFacts
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.session import WatchSession

_KEPT = 4


class Swapped:
    """Told of every step. Weights that were asked about and change all the same are set by the script from those that it trains: a copy
    that is adapted to a task, as in first-order meta-learning."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._first: list[tuple[Any, Any]] = []

    def stepped(self, applied: list[Any], sources: list[Any], asked: set[frozenset[int]]) -> None:
        """A step. `applied`: pairs of gradient and weight; `sources`: the weights that the last tape was asked about; `asked`: all that any
        was, by id."""
        given = {id(part[1]) for part in applied if isinstance(part, list | tuple) and len(part) == 2}
        if not given or not sources:
            return
        facts: SwappedFacts = self._session.observation.swapped
        facts.of += 1
        if given & set().union(*asked):
            return
        if not self._first:
            facts.site = self._session.sites.here()
            self._first = [(source, np.array(numpy_of(source))) for source in sources[:_KEPT]]
        facts.steps += 1
        facts.still = all(np.array_equal(numpy_of(source), value) for source, value in self._first)
