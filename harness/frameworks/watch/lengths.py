"""Rows of different lengths, padded at their ends: whether the parts of a batch agree on how long each row is."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

import numpy as np

from harness.checks.data_facts import LengthFacts
from harness.frameworks.watch import tensors

_ROWS, _LENGTHS, _LARGEST = 6, 4, 1 << 22

Array = np.ndarray[Any, Any]


def measure(columns: Mapping[str, Any]) -> LengthFacts | None:
    """Of two parts of a batch that have the same lengths, but not in the same order, the rows that differ; where there are none of these,
    of two that agree; None where no two parts have the same lengths. A part is int[rows, length], or the lengths themselves, int[rows]."""
    padded: dict[str, Array] = {}
    told: dict[str, Array] = {}
    for name, value in columns.items():
        plain = tensors.array(value)
        if plain is None or plain.dtype.kind not in "iu" or plain.ndim not in (1, 2) or len(plain) < _ROWS:
            continue
        lengths = plain if plain.ndim == 1 else _lengths(plain)
        if lengths is not None and len(np.unique(lengths)) >= _LENGTHS:
            (told if plain.ndim == 1 else padded)[name] = lengths
    agreed = None
    for (first, one), (second, other) in [*combinations(padded.items(), 2), *product(padded.items(), told.items())]:
        if len(one) == len(other) and np.array_equal(np.sort(one), np.sort(other)):
            facts = LengthFacts(parts=(first, second), rows=len(one), apart=int((one != other).sum()),
                                example=(one[:_ROWS].tolist(), other[:_ROWS].tolist()))
            if facts.apart:
                return facts
            agreed = facts
    return agreed


def _lengths(rows: Array) -> Array | None:
    """How long each row is without what it is filled up with: the commonest last entry."""
    if rows.ndim != 2 or rows.size > _LARGEST or rows.shape[1] < _LENGTHS:
        return None
    ends, counts = np.unique(rows[:, -1], return_counts=True)
    filled = np.logical_and.accumulate(rows[:, ::-1] == ends[counts.argmax()], axis=1)
    lengths: Array = rows.shape[1] - filled.sum(1)
    return lengths
