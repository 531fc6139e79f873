"""Who listens to which of the calls that a script makes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.frameworks.watch import own_calls
from harness.frameworks.watch.box_calls import Overlaps, Suppressions
from harness.frameworks.watch.merging import Merging
from harness.frameworks.watch.own_calls import Listener, OwnCalls

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession


def calls(session: WatchSession) -> OwnCalls:
    """The calls of a session's script, each told to whom its name concerns."""
    merging, overlaps, suppressions = Merging(session), Overlaps(session), Suppressions(session)

    def find(name: str) -> Listener | None:
        if name in own_calls.MERGING:
            return merging.heard
        if own_calls.SUPPRESSING.search(name.lower()):
            return suppressions.heard
        return overlaps.heard if own_calls.OVERLAP.search(name.lower()) else None

    return OwnCalls(session, find)
