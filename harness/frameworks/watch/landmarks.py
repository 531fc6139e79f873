"""Named points of pictures that are mirrored: the left eye stands where the right one is then, and the points keep their numbers.

To mirror is what changes the sense of rotation of three points; no turning, scaling or moving does.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from harness.checks.data_facts import MirrorFacts
from harness.frameworks.watch.picture_judges import Array, judges

_POINTS, _MOST = 3, 80
_TRIPLES = 400
_FLAT, _HARDLY = 0.25, 0.08  # of the usual area of three points; part of the rows
_LEAST, _ASTRAY, _FEW = 60, 0.12, 24
_NEAR = 0.35  # of a shape's size: from a point's mirror image to the one it is taken for
_HALF, _HEALED = 0.5, 0.75  # of the error; of the rows


def swapped(pictures: Array, target: Array, filters: Array, name: str) -> MirrorFacts | None:
    """`pictures`: float32[rows, height, width, channels], of the training; `target`: what is wanted of them, float32[rows, 2 * points].

    None unless the points of some rows turn one way round and those of the others the other way, and a baseline that has learnt from the
    more frequent ones says of the others that two points have changed places.
    """
    if target.ndim != 2 or target.shape[1] % 2 or not 2 * _POINTS <= target.shape[1] <= 2 * _MOST:
        return None
    points = target.reshape(len(target), -1, 2)
    astray = _turned(points)
    if astray is None or len(points) - astray.sum() < _LEAST:
        return None
    pairs = _pairs(points[~astray].mean(0))
    order = np.arange(points.shape[1])
    for one, other in pairs:
        order[[one, other]] = other, one
    columns = {2 * number + axis for pair in pairs for number in pair for axis in (0, 1)}
    exchanged = points[:, order].reshape(target.shape)
    for judge in judges(pictures[~astray], target[~astray], filters) if pairs else ():
        if judge.column in columns:
            wrong, right = (judge.errors(pictures[astray], wanted[astray]) for wanted in (target, exchanged))
            healed = int((right < _HALF * wrong).sum())
            if healed >= _HEALED * len(wrong):
                return MirrorFacts(how="mirrored", name=name, rows=len(target), astray=len(wrong), healed=healed, pairs=pairs)
    return None


def _turned(points: Array) -> Array | None:
    """The rows, fewer than the others, in which some three points turn the other way round; None where no three do so that hardly ever lie
    in one line, which is where the one way would go over into the other."""
    for triple in list(combinations(range(points.shape[1]), 3))[:_TRIPLES]:
        area = _area(points, triple)
        flat = np.abs(area) < _FLAT * np.median(np.abs(area))
        turned: Array = area < 0 if (area < 0).mean() < _HALF else area > 0
        if flat.mean() <= _HARDLY and turned.sum() >= max(_FEW, _ASTRAY * len(points)):
            return turned
    return None


def _area(points: Array, triple: tuple[int, int, int]) -> Array:
    first, second, third = (points[:, number] for number in triple)
    one, other = second - first, third - first
    made: Array = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
    return made


def _pairs(shape: Array) -> list[list[int]]:
    """Points of a mean shape, float[points, 2], that are each other's mirror image across its upright middle; none where it has none."""
    centred = shape - shape.mean(0)
    size = float(np.sqrt((centred**2).sum(1).mean()))
    gaps = np.linalg.norm((centred * [-1, 1])[:, None] - centred[None], axis=2)
    nearest = gaps.argmin(1)
    if size == 0 or (gaps.min(1) > _NEAR * size).any() or (nearest[nearest] != np.arange(len(shape))).any():
        return []
    return [[number, int(other)] for number, other in enumerate(nearest) if number < other]
