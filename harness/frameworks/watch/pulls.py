"""Pairs of embeddings: which a loss pulls together and which it pushes apart, beside how alike what they are made of is.

A step against the gradient changes the squared distance of two embeddings by the product of their difference with that of their gradients,
so that a loss of pairs or triplets need not be known. How alike two inputs are is measured in three ways that nobody has trained: number by
number, by mean, deviation and roughness of each channel, and by the model as it was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.checks.loss_facts import PulledFacts
from harness.checks.observation import Observation
from harness.frameworks.watch.sites import Sites

_FIRST, _EARLY, _EVERY, _STEPS = 10, 30, 10, 400
_ROWS, _LARGEST = 4, 1 << 21
_ALONG = 1e-6  # of what it could be at most, that a step changes a distance
_SUMS = 1e-3  # what is left of the gradients of all parts, where a loss sees nothing but differences

Array = np.ndarray[Any, Any]
# What a row was made of, its embedding and the derivative of the loss by that.
Part = tuple[Array, Array, Array]


def is_due(step: int) -> bool:
    """Whether the step with this number, from 1, is looked at."""
    return step <= _FIRST or (step % _EVERY == 0 and step <= _STEPS)


def parted(given: Array, embedding: Array, gradient: Array) -> list[Part]:
    """Two or three parts that were put one below the other for one call; none where the loss does not see their differences alone."""
    for number in (2, 3):
        if len(embedding) % number == 0 and len(given) == len(embedding) and len(embedding) >= number * _ROWS:
            gradients = np.split(gradient, number)
            whole = sum(np.abs(part).sum() for part in gradients)
            # Row by row, so that parts which do not belong together show.
            if whole > 0 and np.abs(sum(gradients)).sum() <= _SUMS * whole:
                return list(zip(np.split(given, number), np.split(embedding, number), gradients, strict=True))
    return []


def note(seen: Observation, sites: Sites, step: int, parts: Sequence[Part]) -> None:
    """What the loss of a step makes of pairs: of the first part with each other one."""
    if not 2 <= len(parts) <= 3 or any(not _fits(part, parts[0]) for part in parts) or _against_all(seen, len(parts[0][1])):
        return
    (given, one, by_one), distances, pulled = parts[0], [], []
    for other_given, other, by_other in parts[1:]:
        apart, pull = one - other, by_one - by_other
        along = (apart * pull).sum(1)
        taken = np.abs(along) > _ALONG * np.linalg.norm(apart, axis=1) * np.linalg.norm(pull, axis=1)
        if taken.sum() < _ROWS:
            continue
        pulled.append(along[taken] > 0)
        measures = [np.linalg.norm(apart, axis=1), *(_unlikeness(given, other_given) if step <= _EARLY else [])]
        distances.append(np.stack(measures)[:, taken])
    if not pulled:
        return
    held, far = np.concatenate(pulled), np.concatenate(distances, axis=1)
    if held.all() or not held.any():
        return
    facts = seen.pulled = seen.pulled or PulledFacts(site=sites.here())
    shares = [_farther(measure, held) for measure in far]
    if step <= _EARLY:
        facts.pulled, facts.pushed = facts.pulled + int(held.sum()), facts.pushed + int((~held).sum())
        facts.early.append(shares)
    else:
        facts.late.append(shares[0])


def _against_all(seen: Observation, rows: int) -> bool:
    """Whether the loss takes each row's likeness to all rows of the batch: a pair that is the nearest already is then hardly pulled, and
    pushed apart by all others."""
    given = seen.loss_calls[-1].inputs if seen.loss_calls else None
    return given is not None and list(given.shape) == [rows, rows]


def _fits(part: Part, first: Part) -> bool:
    given, embedding, gradient = part
    return (embedding.ndim == 2 and embedding.shape[1] > 1 and embedding.shape == gradient.shape == first[1].shape
            and len(given) == len(embedding) and given.ndim > 1 and given.shape[1:] == first[0].shape[1:] and given.size <= _LARGEST
            and all(bool(np.isfinite(side).all()) for side in part))


def _unlikeness(one: Array, other: Array) -> list[Array]:
    """How far apart two inputs are, row by row, float[rows] each: by their numbers, and by what their channels are like."""
    if one.dtype.kind in "iub" and one.ndim == 2:
        one, other = _words(one, other)
        return [np.abs(one - other).sum(1)]
    one, other = (side.astype(np.float64) for side in (one, other))
    found = [_between(one.reshape(len(one), -1), other.reshape(len(other), -1))]
    if one.ndim > 2:
        found.append(_between(_channels(one), _channels(other)))
    return found


def _between(one: Array, other: Array) -> Array:
    spread = np.concatenate([one, other]).std(0)
    used = spread > 0
    distances: Array = np.linalg.norm((one - other)[:, used] / spread[used], axis=1)
    return distances


def _channels(rows: Array) -> Array:
    """Mean, deviation and roughness along every axis but the last, for each place of the last one; and the reverse."""
    flat = rows.reshape(len(rows), -1, rows.shape[-1])
    made: Array = np.concatenate([flat.mean(1), flat.std(1), np.abs(np.diff(flat, axis=1)).mean(1)], axis=1)
    return made


def _words(one: Array, other: Array) -> tuple[Array, Array]:
    """The share that each id has of a row."""
    known = np.unique(np.concatenate([one, other]))
    one, other = (np.stack([np.bincount(np.searchsorted(known, row), minlength=len(known)) for row in side]) / side.shape[1]
                  for side in (one, other))
    return one, other


def _farther(measure: Array, pulled: Array) -> float:
    """How often a pair that is pushed apart is farther apart than one that is pulled together, of some of both."""
    near, far = np.sort(measure[pulled]), measure[~pulled]
    below = np.searchsorted(near, far, "left") + np.searchsorted(near, far, "right")
    return float(below.mean() / (2 * len(near)))
