"""Batches of a training whose rows are all one and the same, another in each step: many references to one array that is written into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import OneRowFacts
from harness.frameworks.watch import tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_STEPS, _LEAST = 8, 8


class OneRow:
    """Told of all that a model is given in the first training steps."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._looked = 0
        self._last: np.ndarray[Any, Any] | None = None

    def trained(self, given: Sequence[Any]) -> None:
        """A step runs a model on these arrays. One batch with different rows ends the search."""
        parts = [part for one in given if (part := tensors.array(one)) is not None and part.ndim]
        rows = parts[0] if parts else None
        if rows is None or self._looked >= _STEPS or rows.ndim < 2 or len(rows) < _LEAST or rows[0].size < 2:
            return
        self._looked += 1
        seen = self._session.observation
        if np.ptp(rows[0]) == 0 or not all((part == part[:1]).all() for part in parts if len(part) == len(rows)):
            self._looked, seen.one_row = _STEPS, None
            return
        found = seen.one_row = seen.one_row or OneRowFacts(rows=len(rows))
        if self._last is None or self._last.shape != rows[0].shape or (self._last != rows[0]).any():
            found.kinds += 1
        found.steps, self._last = found.steps + 1, rows[0].copy()
