"""Losses that a script adds up over the rows of a batch by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.checks.probe_facts import SumFacts
from harness.frameworks.watch.sites import Place, site

# How near to the loss a sum has to be, so that it is what the loss is made of, and how alike that share on all batches.
_LEAST, _MOST, _ALIKE = 0.5, 2.0, 0.05
LEAST_BATCHES = 2


@dataclass(frozen=True)
class Sum:
    """One number that a line of the script makes of all rows of a batch by adding them up."""

    value: float
    rows: int
    place: Place


def whole(batches: list[tuple[float, list[Sum]]]) -> SumFacts | None:
    """Of the losses of some batches and the sums behind each, the sum that makes up most of the loss on all of them, the last one."""
    if len(batches) < LEAST_BATCHES:
        return None
    shares: dict[Place, list[float]] = {}
    for loss, sums in batches:
        for found in {one.place: one for one in sums}.values():
            shares.setdefault(found.place, []).append(loss / found.value if found.value else math.nan)
    for place in reversed(shares):
        each = shares[place]
        near = len(each) == len(batches) and all(_LEAST <= share <= _MOST for share in each)
        if near and max(each) - min(each) <= _ALIKE:
            return SumFacts(rows=max(one.rows for one in batches[0][1] if one.place == place), site=site(place))
    return None
