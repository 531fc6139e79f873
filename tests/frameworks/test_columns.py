"""Deviations of the columns of a batch."""

from __future__ import annotations

import numpy as np

from harness.frameworks.watch import tensors


def test_what_hardly_any_row_has_is_of_no_scale() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(64, 4))
    rows[1:, 3] = 0
    rows[0, 3] = 1e-3
    facts = tensors.facts(rows)
    assert facts is not None
    assert facts.column_stds is not None
    assert facts.column_stds[0] > 0.5
    rows[:, 2] *= 1e-4
    facts = tensors.facts(rows)
    assert facts is not None
    assert facts.column_stds is not None
    assert facts.column_stds[0] < 1e-3
    rows[0, 3] = 1e5  # rare, and large all the same
    facts = tensors.facts(rows)
    assert facts is not None
    assert facts.column_stds is not None
    assert facts.column_stds[1] > 1e4
