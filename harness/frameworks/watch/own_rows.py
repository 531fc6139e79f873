"""Evaluations that ask about nothing but rows which are trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.frameworks.watch import tensors

_NUMBERS, _MOST, _LARGE, _LEAST = 4, 20_000, 1 << 21, 50


class OwnRows:
    """Told of the tensors that a model is given, in training and in evaluation; of either the first that has a row each counts."""

    def __init__(self) -> None:
        self._trained: set[int] = set()
        self._asked: set[int] = set()
        self._others = False

    def trained(self, given: Sequence[Any]) -> None:
        if len(self._trained) < _MOST and not self._others:
            self._trained |= _marks(given)

    def held(self, given: Sequence[Any]) -> None:
        """Before any training nothing can be said."""
        if self._trained and not self._others and len(self._asked) < _MOST:
            self._asked |= _marks(given)
            # An epoch may still be under way in which a row comes for the first time.
            self._others = len(self._asked - self._trained) > len(self._asked) // 10

    def rows(self) -> int:
        """How many different rows were asked about, all of them trained on; 0 where there were others."""
        known = len(self._asked) >= _LEAST and not self._others and self._asked <= self._trained and len(self._trained) < _MOST
        return len(self._asked) if known else 0


def _marks(given: Sequence[Any]) -> set[int]:
    for value in given:
        plain = tensors.array(value) if len(getattr(value, "shape", ())) > 1 else None
        if plain is not None and plain.dtype.kind in "fiu" and len(plain) and plain[0].size >= _NUMBERS and plain.size <= _LARGE:
            if plain.dtype.kind == "f":
                plain = plain.astype("float32")
            return {hash(row.tobytes()) for row in plain}
    return set()
