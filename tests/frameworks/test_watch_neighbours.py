"""What the rows of a batch owe each other, on arrays."""

from __future__ import annotations

import numpy as np

from harness.frameworks.watch import neighbours

ROWS = 6


def test_rows_against_all_rows_of_two_kinds() -> None:
    rng = np.random.default_rng(0)
    asked, right, wrong = (rng.normal(size=(ROWS, 4)) for _ in range(3))

    def scores(order: list[int]) -> np.ndarray:
        return asked[order] @ np.concatenate([right[order], wrong[order]]).T

    outputs = [scores(order) for order in (list(range(ROWS)), neighbours.moved(ROWS), neighbours.replaced(ROWS))]
    assert neighbours.measure(*([output] for output in outputs), ROWS) is None


def test_rows_that_are_mixed_with_as_many_classes() -> None:
    rng = np.random.default_rng(0)
    given, weights = rng.normal(size=(ROWS, 2 * ROWS)), rng.normal(size=(2 * ROWS, 2 * ROWS))

    def mixed(order: list[int]) -> np.ndarray:
        return given[order].T.reshape(ROWS, -1) @ weights  # cut where axes should have been exchanged

    outputs = [mixed(order) for order in (list(range(ROWS)), neighbours.moved(ROWS), neighbours.replaced(ROWS))]
    facts = neighbours.measure(*([output] for output in outputs), ROWS)
    assert facts is not None
    assert neighbours.suspect(facts)
