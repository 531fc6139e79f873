"""Rows of two pictures that are asked for again and again: whether what is drawn at random for one is drawn for the other as well."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from harness.checks.data_facts import AugmentationFacts
from harness.frameworks.watch import motions

_DRAWS = 4

Pair = tuple[motions.Picture, motions.Picture]


def found(rows: Iterable[tuple[int, Callable[[], Pair | None]]], seconds: float) -> AugmentationFacts | None:
    """`rows`: of each its number, and what draws it anew: the picture, and the one that is wanted for it. None where a row is no such
    pair."""
    begun, facts = time.monotonic(), AugmentationFacts()
    for number, draw in rows:
        first = draw()
        if first is None:
            return None
        for _ in range(_DRAWS):
            if time.monotonic() - begun > seconds:
                return facts
            again = draw()
            how = _between(first[0], again[0]) if again is not None and again[0].shape == first[0].shape else []
            if again is None or len(how) != 1 or again[1].shape != first[1].shape:
                continue  # blurred, or as it looks from the other side too
            if motions.moved(first[1], again[1], how[0]):
                facts.compared += 1
                continue
            others = motions.between(first[1], again[1])
            if others:
                facts.compared += 1
                facts.apart += 1
                facts.example = facts.example or (number, str(how[0]), str(others[0]))
    return facts


def pair(pictures: list[motions.Picture]) -> Pair | None:
    """The first picture, and the last one if it has the same height and width; None where there are no two."""
    if len(pictures) < 2 or pictures[0].shape[:2] != pictures[-1].shape[:2]:
        return None
    return pictures[0], pictures[-1]


def _between(first: motions.Picture, second: motions.Picture) -> list[motions.Motion]:
    """The motions of a picture, whose brightness and contrast may have been drawn as well."""
    how = motions.between(first, second)
    return how or motions.between(motions.levelled(first), motions.levelled(second))
