"""The plain baseline where one of two classes has most of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.checks.observation import Observation
from harness.checks.probe_facts import EvenFacts, ProbeFacts
from harness.frameworks.watch import baseline
from tests.checks.made import judge
from tests.checks.test_data import uninformative


class Table:
    def __init__(self, rows: Any, labels: Any) -> None:
        self._rows, self._labels = list(rows), labels

    def rows_seen(self) -> tuple[str, list[Any], Any]:
        return "numbers", self._rows, self._labels


def measured(share: float, *, told: bool) -> EvenFacts | None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(800, 5)).astype("float32")
    scores = rows[:, 0] if told else rng.normal(size=800)
    facts = ProbeFacts()
    baseline.measure(Table(rows, (scores < np.quantile(scores, share)).astype("int64")), facts, lambda _rows, _labels: None)
    return facts.even_baseline


@pytest.mark.parametrize(("told", "least", "most"), [(True, 0.85, 1.0), (False, 0.4, 0.6)])
def test_as_many_rows_of_each(*, told: bool, least: float, most: float) -> None:
    found = measured(0.75, told=told)
    assert found is not None
    assert found.rows == 400
    assert least < found.told <= most
    assert 0.4 < found.shuffled < 0.6


def test_where_it_is_not_asked() -> None:
    assert measured(0.5, told=True) is None
    assert measured(0.95, told=True) is None  # 40 rows of one


def imbalanced(even: EvenFacts | None, rare: int) -> Observation:
    seen = uninformative()
    seen.probes.even_baseline = even
    for loader in seen.loaders:
        loader.label_counts = {"0": 1000 - rare, "1": rare}
    return seen


def test_what_is_judged() -> None:
    nothing = EvenFacts(told=0.5, shuffled=0.49, rows=400)
    assert "one label has" in judge("D106", imbalanced(None, 300))
    assert judge("D106", imbalanced(nothing, 300)) == "found"
    assert judge("D106", imbalanced(EvenFacts(told=0.8, shuffled=0.5, rows=400), 300)) != "found"
    assert "one label has" in judge("D106", imbalanced(nothing, 50))
