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


def rows_of(values: Any) -> list[Any] | None:
    """One whole number a row, of tensors, arrays and lists; None where there are too few or too many, or other values."""
    shape = getattr(values, "shape", None)
    rows = len(values) if shape is None and isinstance(values, list | tuple) else shape[0] if shape else 0
    if not _ROWS <= rows <= MOST_ROWS:
        return None
    found = tensors.whole_labels(np.asarray(values) if isinstance(values, list | tuple) else values, limit=MOST_ROWS)
    return found if found is not None and len(found) == rows else None


def compared(one: Sequence[Any], other: Sequence[Any], answers: Site | None, labels: Site | None,
             loader: Site | None) -> PassesFacts | None:
    """Facts of two passes that delivered the same labels in different orders; None where the order is one, or the rows are others."""
    counted = Counter(one)
    if len(one) < _ROWS or len(one) != len(other) or counted != Counter(other):
        return None
    same = sum(first == second for first, second in zip(one, other, strict=True))
    if same == len(one):
        return None
    chance = sum(count * count for count in counted.values()) / len(one) ** 2
    return PassesFacts(rows=len(one), same=same, chance=chance, answers=answers, labels=labels, loader=loader)
