"""Ids that a model meets in evaluation and never had in training: a word that both parts would know, had they been prepared alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import StrangeFacts
from harness.frameworks.watch import tensors

_KINDS, _SHORTEST = 4, 4  # what has fewer is a mask, or a class
_FILLS = 0.7  # of what there is of an id, that stands together at an end of its row: padding
_MOST, _LARGEST = 400_000, 1 << 20  # ids of an evaluation, and of a batch

Array = np.ndarray[Any, Any]


class StrangeIds:
    """Told of what one model is given, in training and in evaluation; rows of ids count."""

    def __init__(self) -> None:
        self._model: int | None = None
        self._trained: Counter[int] = Counter()
        self._held: Counter[int] = Counter()
        self._at_ends: Counter[int] = Counter()
        self._rows = 0

    def trained(self, model: Any, given: Sequence[Any]) -> None:
        """A training step runs a model on these."""
        self._model = self._model if self._model is not None else id(model)
        rows = _ids(given) if id(model) == self._model else None
        if rows is not None and self._trained.total() < _MOST:
            self._trained.update(rows.reshape(-1).tolist())
            self._at_ends += _ends(rows)

    def held(self, model: Any, given: Sequence[Any]) -> None:
        """An evaluation does."""
        rows = _ids(given) if self._trained and id(model) == self._model else None
        if rows is not None and self._held.total() < _MOST:
            self._held.update(rows.reshape(-1).tolist())
            self._rows += len(rows)
            self._at_ends += _ends(rows)

    def facts(self) -> StrangeFacts | None:
        """Of the id that the evaluation has most beyond its share in training; None where no ids were seen on both sides."""
        filler = {token for token, number in self._at_ends.items() if number > _FILLS * (self._trained[token] + self._held[token])}
        trained, held = ({token: number for token, number in counted.items() if token not in filler}
                         for counted in (self._trained, self._held))
        if not trained or not held:
            return None
        of, among = sum(trained.values()), sum(held.values())
        token = max(held, key=lambda one: held[one] / among - trained.get(one, 0) / of)
        return StrangeFacts(token=token, share=held[token] / among, trained_share=trained.get(token, 0) / of, tokens=among,
                            trained_tokens=of, rows=self._rows)


def _ids(given: Sequence[Any]) -> Array | None:
    for value in given:
        shape = tuple(getattr(value, "shape", ()))
        if len(shape) != 2 or "int" not in str(getattr(value, "dtype", "")) or (shape[1] or 0) < _SHORTEST:
            continue
        plain = tensors.array(value)
        if plain is not None and 0 < plain.size <= _LARGEST and len(np.unique(plain)) >= _KINDS:
            return plain
    return None


def _ends(rows: Array) -> Counter[int]:
    """How often each id stands several times in a row at an end of a row."""
    found: Counter[int] = Counter()
    for turned in (rows, rows[:, ::-1]):
        run = np.logical_and.accumulate(turned == turned[:, :1], axis=1).sum(1)
        for token, length in zip(turned[:, 0].tolist(), run.tolist(), strict=True):
            found[int(token)] += int(length) if length > 1 else 0
    return found
