"""Who listens to which of the calls that a script makes itself: those that are marked in its tree, and those of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.frameworks.watch import own_calls
from harness.frameworks.watch.batch_scores import BatchScores
from harness.frameworks.watch.box_calls import Overlaps, Suppressions
from harness.frameworks.watch.box_conversions import Conversions
from harness.frameworks.watch.bytes_wrapped import Wrapped
from harness.frameworks.watch.galleries import Galleries
from harness.frameworks.watch.merging import Merging
from harness.frameworks.watch.numpy_compared import NumpyComparisons
from harness.frameworks.watch.own_calls import Listener, OwnCalls
from harness.frameworks.watch.shares import Shares

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession


class Listeners:
    """All of them; each hears of the calls by its name."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

    def attach(self) -> None:
        """Hook the marked calls, comparisons and sums, NumPy's averages, and scikit-learn's scores."""
        shares = Shares(self._session)
        for part in (_calls(self._session, shares), shares, NumpyComparisons(self._session), BatchScores(self._session),
                     Wrapped(self._session)):
            part.attach()


def _calls(session: WatchSession, shares: Shares) -> OwnCalls:
    merging, overlaps, suppressions, galleries = Merging(session), Overlaps(session), Suppressions(session), Galleries(session)
    conversions = Conversions(session)

    def find(name: str) -> Listener | None:
        if name in own_calls.MERGING:
            return merging.heard
        if name in own_calls.SHARING:
            return shares.heard
        if name in own_calls.RANKING:
            return galleries.heard
        if own_calls.SUPPRESSING.search(name.lower()):
            return suppressions.heard
        if own_calls.OVERLAP.search(name.lower()):
            return overlaps.heard
        return conversions.heard if own_calls.CONVERTING.search(name.lower()) else None

    return OwnCalls(session, find)
