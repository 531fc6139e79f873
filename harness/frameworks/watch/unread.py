"""A learning rate that a script writes where its optimizer does not read it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from harness.checks.training_facts import UnreadFacts
from harness.frameworks.watch.session import WatchSession

_NAMES = ("lr", "learning_rate")


def attach(session: WatchSession, owner: Any, package: str, rate_of: Callable[[Any], float | None]) -> None:
    """Hook the attributes of an optimizer's base class. Optimizers of other packages may well read what they are given."""
    def wrap(original: Any) -> Any:
        def __setattr__(optimizer: Any, name: str, value: Any) -> None:  # noqa: N807
            original(optimizer, name, value)
            if name in _NAMES and session.active and session.sites.is_own(sys._getframe(1).f_code.co_filename):
                session.safely("a rate", _written, session, optimizer, name, value, package, rate_of)

        return __setattr__

    session.patches.replace(owner, "__setattr__", wrap)


def _written(session: WatchSession, optimizer: Any, name: str, value: Any, package: str, rate_of: Callable[[Any], float | None]) -> None:
    kind, seen = type(optimizer), session.observation
    rate = rate_of(optimizer)
    if hasattr(kind, name) or not kind.__module__.startswith(package) or not isinstance(value, int | float) or rate is None:
        return
    if seen.unread is None and abs(value - rate) > 1e-3 * abs(rate):
        seen.unread = UnreadFacts(kind=kind.__name__, name=name, value=float(value), rate=rate, site=session.sites.here())
