"""Likenesses of rows with each other, of which a contrastive loss takes a softmax: is a row's likeness with itself among them?"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.loss_facts import LikenessFacts
from harness.checks.observation import Observation
from harness.frameworks.watch.sites import Place, site

# Calls that take a softmax along a row for the sake of its logarithm.
NAMES = ("logsumexp", "log_softmax", "cross_entropy")
STEPS = 6
_FEWEST, _EVEN = 8, 1e-4

Array = np.ndarray[Any, Any]


def note(seen: Observation, place: Place | None, given: Array) -> None:
    """`given`: what a softmax is taken of, float[rows, rows]. Kept where it is the same from either side, and where each row's largest is
    that on the diagonal."""
    known = seen.likeness
    if place is None or (known is not None and (known.steps >= STEPS or known.site is None or known.site.line != place[1])):
        return
    share = _with_itself(given)
    if share is None:
        return
    if known is None:
        known = seen.likeness = LikenessFacts(rows=len(given), site=site(place))
    known.steps += 1
    known.shares.append(share)


def fits(shape: Any) -> bool:
    """Whether a shape is that of likenesses, `(rows, rows)`."""
    return len(shape) == 2 and shape[0] == shape[1] and int(shape[0] or 0) >= _FEWEST


def diagonal(wanted: Array | None, rows: int) -> bool:
    """Whether a loss is told that the diagonal is what it wants: `arange(rows)`, or ones there and zeros elsewhere."""
    if wanted is None:
        return False
    return bool(np.array_equal(wanted, np.arange(rows)) or np.array_equal(wanted, np.eye(rows)))


def _with_itself(given: Array) -> float | None:
    """The share of a row's softmax that falls on itself, on the average; None where rows are not compared with themselves."""
    numbers: Array = given.astype(np.float64)
    own: Array = np.diagonal(numbers)
    others: Array = numbers[~np.eye(len(numbers), dtype=bool)].reshape(len(numbers), -1)
    if not np.isfinite(own).all() or np.isnan(others).any():
        return None
    room = _EVEN * max(1.0, float(np.abs(own).max()))
    one_way: Array = np.where(np.isfinite(numbers), numbers, 0.0)
    alike = float(np.abs(one_way - one_way.T).max()) <= room
    nearest: Array = others.max(axis=1)
    if not alike or (nearest > own + room).any() or (nearest > own - room).all():
        return None
    return float((1.0 / np.exp(numbers - own[:, None]).sum(axis=1)).mean())
