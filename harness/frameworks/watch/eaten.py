"""Tables of ids that are written into while they are trained on: a slice of an array is a view, and what masks a batch masks the table."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import EatenFacts
from harness.frameworks.watch.sites import names_of

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_LEAST, _KINDS, _BYTES = 2000, 20, 1 << 26
# Of the numbers; of what has changed to one value; of that value now, how much was there before (the first batch is masked by then).
_CHANGED, _ONE, _BEFORE = 0.02, 0.5, 0.25

Array = np.ndarray[Any, Any]


class Eaten:
    """Keeps copies of the tables of whole numbers that have a name when a training begins."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._kept: dict[str, tuple[Array, Array]] = {}

    def named(self, frames: list[FrameType]) -> None:
        """A training begins below these frames of the script's."""
        left = _BYTES - sum(before.nbytes for _, before in self._kept.values())
        for name, table in ((name, value) for frame in frames for name, value in names_of(frame).items() if isinstance(value, np.ndarray)):
            wide = table.ndim == 2 and table.dtype.kind in "iu" and table.size >= _LEAST and table.nbytes <= left
            if not wide or any(table is other for other, _ in self._kept.values()) or len(np.unique(table[:_LEAST])) < _KINDS:
                continue
            self._kept[name] = table, table.copy()
            left -= table.nbytes

    def finish(self) -> None:
        """The script is over: a table that has come to hold one value that was hardly in it before."""
        for name, (table, before) in self._kept.items():
            changed = table != before
            if changed.mean() < _CHANGED:
                continue
            values, counts = np.unique(table[changed], return_counts=True)
            value = values[np.argmax(counts)]
            if counts.max() >= _ONE * changed.sum() and (before == value).mean() <= _BEFORE * (table == value).mean():
                self._session.observation.eaten = EatenFacts(
                    name=name, value=int(value), share=float((table == value).mean()), before=float((before == value).mean()),
                    rows=int(changed.any(1).sum()), of=len(table))
                return
