"""Layers that normalise by statistics in which the newest batch outweighs all that came before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from harness.checks.probe_facts import HastyFacts
from harness.checks.tensor_facts import Site

NEWEST = 0.5  # part of the newest batch in the statistics, from which it is asked
_BATCHES, _EACH = 8, 6


@dataclass
class Hasty:
    """Such layers of a model. `after(passes)`: while inside, their statistics are the mean over these forward passes, by number; the rest
    as in `HastyFacts`."""

    kind: str
    part: float
    after: Callable[[Sequence[int]], AbstractContextManager[None]]
    site: Site | None = None

    def measure(self, loss: Callable[[], float], rows: Sequence[int]) -> HastyFacts | None:
        """`loss()`: in evaluation mode, with the weights of now; `rows` of each batch. What is left of an epoch's last batch, which may be
        shorter, is told by the shortest. None where there are too few batches for a mean."""
        if len(rows) < _BATCHES:
            return None
        shortest = min(range(len(rows)), key=rows.__getitem__)
        each = []
        for number in (shortest, *range(0, len(rows), max(1, len(rows) // _EACH))):
            with self.after([number]):
                each.append(loss())
        with self.after(range(len(rows))):
            return HastyFacts(kind=self.kind, part=self.part, own=each[0], averaged=loss(), batches=len(rows), rows=rows[shortest],
                              each=each, site=self.site)
