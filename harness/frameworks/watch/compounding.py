"""Schedules that are told the rate of now and treat it as the first: what they take off is taken off again and again."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Callable
from typing import Any

from harness.checks.model_facts import CompoundFacts
from harness.frameworks.watch import written
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import site

_LONGEST = 1000  # turns of a schedule that are followed
_TURNS = 20  # of one whose training's length is not known


def of_keras(session: WatchSession, callbacks: Any, first: float, epochs: int) -> None:
    """The `LearningRateScheduler` among a fit's callbacks, once the script is over: its function is the script's own."""
    listed = callbacks if isinstance(callbacks, list | tuple) else [callbacks]
    schedule = next((part.schedule for part in listed if type(part).__name__ == "LearningRateScheduler"), None)
    if schedule is not None and first > 0:
        _take(session, schedule, lambda epoch, rate: float(schedule(epoch, rate)), first, epochs)


def of_torch(session: WatchSession, schedule: Any) -> None:
    """A `MultiplicativeLR`, whose function gives a factor of the rate of now."""
    shape = next(iter(getattr(schedule, "lr_lambdas", None) or ()), None)
    if shape is not None and type(schedule).__name__ == "MultiplicativeLR":
        _take(session, shape, lambda turn, rate: rate * float(shape(turn + 1)), float(schedule.base_lrs[0]), _TURNS)


def _take(session: WatchSession, function: Any, rate_after: Callable[[int, float], float], first: float, turns: int) -> None:
    facts = session.observation.optimizer
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(TypeError):  # a function of the epoch alone is no such one
        found = follow(rate_after, first, min(turns, _LONGEST))
        code = getattr(function, "__code__", None)
        if facts is not None and found is not None:
            found.site = site(written.returns(code, session.sites)) if code is not None else None
            facts.compounded = found


def follow(rate_after: Callable[[int, float], float], first: float, turns: int) -> CompoundFacts | None:
    """The rates of so many turns of a schedule, and what it would make of the first rate at each; None where it does not multiply the
    rate that it is given by factors that become ever smaller."""
    rates, rate = [], first
    for turn in range(turns):
        if abs(rate_after(turn, 2 * first) - 2 * rate_after(turn, first)) > 1e-6 * first:
            return None
        rate = rate_after(turn, rate)
        rates.append(rate)
    factors = [rate_after(turn, first) / first for turn in range(turns)]
    falling = all(later <= factor for factor, later in itertools.pairwise(factors))
    if not falling or len({f"{factor:.6g}" for factor in factors}) < 3:
        return None
    return CompoundFacts(first=first, rates=rates, factors=factors)
