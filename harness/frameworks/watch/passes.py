"""Two passes over the same rows, compared by their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import PassesFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import tensors

_ROWS, MOST_ROWS = 16, 20_000
_NUMBERS = 1 << 22


def rows_of(values: Any) -> list[Any] | None:
    """A key for each row of tensors, arrays and lists; None where there are too few or too many, or values that are no numbers."""
    shape = getattr(values, "shape", None)
    rows = len(values) if shape is None and isinstance(values, list | tuple) else shape[0] if shape else 0
    if not _ROWS <= rows <= MOST_ROWS:
        return None
    return keys(np.asarray(values) if isinstance(values, list | tuple) else values)


def keys(values: Any) -> list[Any] | None:
    """What tells each row from others: its whole number, its number as float32, or a hash of its numbers as float32.

    None for tensors elsewhere than on the CPU, for what has no rows or is too large, and for values that are no numbers.
    """
    data = tensors.array(values)
    if data is None or not data.ndim or data.dtype.kind not in "iufb" or data.size > _NUMBERS:
        return None
    if data.size != len(data):
        return [hash(row.tobytes()) for row in np.ascontiguousarray(data.reshape(len(data), -1), dtype=np.float32)]
    whole = tensors.whole_labels(data.reshape(-1), limit=MOST_ROWS)
    return whole if whole is not None and len(whole) == len(data) else data.reshape(-1).astype(np.float32).tolist()


def compared(one: Sequence[Any], other: Sequence[Any], answers: Site | None, labels: Site | None,
             loader: Site | None, shuffled: Site | None = None) -> PassesFacts | None:
    """Facts of two passes that delivered the same labels in different orders; None where the order is one, or the rows are others."""
    counted = Counter(one)
    if len(one) < _ROWS or len(one) != len(other) or counted != Counter(other):
        return None
    same = sum(first == second for first, second in zip(one, other, strict=True))
    if same == len(one):
        return None
    chance = sum(count * count for count in counted.values()) / len(one) ** 2
    return PassesFacts(rows=len(one), same=same, chance=chance, answers=answers, labels=labels, loader=loader,
                       shuffled=shuffled)
