"""Numbers that a script clips to what has a logarithm: a little more than 0, and at most 1. Those are to be probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.loss_facts import ClippedFacts
from harness.frameworks.watch.session import WatchSession

_SLACK = 0.01
NAMES = frozenset(("clamp", "clip", "clip_by_value"))


class Clipped:
    """Told of every clipping on the way to a loss."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

    def clips(self, given: Any, low: Any, high: Any) -> None:
        """`given`: an array, float[...], or None where its numbers are not known yet; `low`, `high`: the bounds as the script has them."""
        if not (_number(low) and _number(high) and 0 < low <= _SLACK and 1 - _SLACK <= high <= 1):
            return
        facts = self._session.observation.clipped
        if facts is None:
            facts = self._session.observation.clipped = ClippedFacts(site=self._session.sites.here())
        if given is None or not given.size:
            facts.unread = True
            return
        numbers = np.asarray(given, dtype=np.float64)
        facts.outside.append(float(((numbers < -_SLACK) | (numbers > 1 + _SLACK)).mean()))
        facts.lowest, facts.highest = min(facts.lowest, float(numbers.min())), max(facts.highest, float(numbers.max()))


def bounds(args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, str]) -> tuple[Any, Any]:
    """Both bounds of a call; `args`: what follows on the tensor."""
    low, high = [*args, *(kwargs.get(name) for name in names[len(args):])][:2]
    return low, high


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
