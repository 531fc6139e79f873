"""Classes that a script itself holds against references, `np.mean(guess == y)`: which is answered for which, in each comparison."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from harness.checks.metric_facts import MetricFacts
from harness.frameworks.watch import tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_LINES, _PLACES, _CLASSES = 8, 1 << 20, 1000
_ALL: WeakKeyDictionary[WatchSession, Told] = WeakKeyDictionary()


def of(session: WatchSession) -> Told:
    """The one of a session, which both frameworks' watchers tell of their trainings."""
    if session not in _ALL:
        _ALL[session] = Told(session)
    return _ALL[session]


class Told:
    """Counts by the line of the comparison; one that is made after further training begins anew."""

    def __init__(self, session: WatchSession) -> None:
        self._sites, self._kept_in = session.sites, session.observation.evaluation.compared  # not the session, which is the key
        self._counted: dict[str, Counter[tuple[int, int]]] = {}
        self._kept: dict[str, MetricFacts] = {}
        session.comparisons.append(self._compared)

    def training_resumes(self) -> None:
        """An evaluation, if there was one, is over."""
        self._counted.clear()

    def _compared(self, answers: Any, references: Any) -> None:
        place, (wanted, given) = self._sites.here(), (_classes(side) for side in (references, answers))
        if place is None or wanted is None or given is None or wanted.shape != given.shape:
            return
        line = f"{place.file}:{place.line}"
        if line not in self._kept and len(self._kept) >= _LINES:
            return
        least, wide = int(given.min()), int(given.max()) - int(given.min()) + 1
        if max(wide, int(np.abs(wanted).max())) > _PLACES:
            return  # numbers, and no classes
        counted = self._counted.setdefault(line, Counter())
        both, rows = np.unique(wanted.reshape(-1) * wide + (given.reshape(-1) - least), return_counts=True)
        for reference, answer, count in zip((both // wide).tolist(), (both % wide + least).tolist(), rows.tolist(), strict=True):
            counted[reference, answer] += count
        if line not in self._kept:
            self._kept[line] = MetricFacts(name="compared", site=place)
            self._kept_in.append(self._kept[line])
        self._kept[line].shape = list(wanted.shape)
        if len(counted) <= _CLASSES:
            self._kept[line].pairs = [(int(reference), int(answer), rows) for (reference, answer), rows in counted.items()]


def _classes(side: Any) -> np.ndarray[Any, Any] | None:
    """`int64[...]`; None of anything else."""
    plain = side if isinstance(side, np.ndarray) else tensors.array(side)
    whole = plain is not None and plain.ndim and plain.dtype.kind in "iu" and 0 < plain.size <= _PLACES
    return plain.astype(np.int64) if plain is not None and whole else None
