"""Values that are learnt from later values of the same model: does the loss pull at both?

A loss of `r + discount * v(next)` against `v(now)` has, by the later value, minus the discount times the derivative that it has by the
earlier one, row by row, and nothing where an episode ends. Where the later value stands still it has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.loss_facts import BootstrapFacts
from harness.checks.observation import Observation
from harness.frameworks.watch.sites import Place, Sites, site

STEPS = 6
_LEAST, _MOST = 0.5, 0.9995  # discounts; two sides that are alike pull against each other by one and the same amount
_SAME, _SHARE, _FEWEST = 1e-3, 0.3, 4

Array = np.ndarray[Any, Any]


def note(seen: Observation, sites: Sites, one: Array, other: Array, places: tuple[Place | None, Place | None] = (None, None)) -> None:
    """`one`, `other`: derivatives of a loss by two answers of a model, float[rows, actions] or float[rows]; `places`: of the answers."""
    known = seen.bootstrap
    if known is not None and len(known.discounts) >= STEPS:
        return
    ahead, back = _discount(one, other), _discount(other, one)
    found = ahead or back
    if found is None:
        return
    if known is None:
        known = seen.bootstrap = BootstrapFacts(rows=len(one), site=site(places[1 if ahead else 0]) or sites.here())
    known.discounts.append(found)


def _discount(now: Array, later: Array) -> float | None:
    """What the derivative by the later values is of that by the earlier ones, with a minus; None where they do not go together so."""
    if now.shape != later.shape or not now.size or not (np.isfinite(now).all() and np.isfinite(later).all()):
        return None
    sides: list[Array] = [side.reshape(len(side), -1).astype(np.float64) for side in (now, later)]
    if any((np.count_nonzero(side, axis=1) > 1).any() for side in sides):
        return None  # more than one value of a row takes part
    here, there = (side.sum(axis=1) for side in sides)
    taken = (here != 0) & (there != 0)
    if taken.sum() < max(_FEWEST, _SHARE * np.count_nonzero(here)) or (there[here == 0] != 0).any():
        return None
    ratios = -there[taken] / here[taken]
    middle = float(np.median(ratios))
    return middle if _LEAST <= middle <= _MOST and float(np.abs(ratios - middle).max()) <= _SAME else None
