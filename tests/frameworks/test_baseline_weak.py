"""Signals that more rows tell than a baseline is fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.checks.probe_facts import ProbeFacts, WeakFacts
from harness.frameworks.watch import baseline
from tests.checks.made import judge
from tests.checks.test_data import uninformative
from tests.frameworks.test_baseline_even import Table


def measured(rows: int, labels: Any) -> WeakFacts | None:
    x = np.random.default_rng(0).normal(size=(rows, 6)).astype("float32")
    facts = ProbeFacts()
    baseline.measure(Table(x, labels(x)), facts, lambda _rows, _labels: None)
    return facts.weak


def drawn(x: Any) -> Any:
    """Up or down, with odds that hang on the first column a little."""
    return (np.random.default_rng(1).random(len(x)) < 1 / (1 + np.exp(-0.2 * x[:, 0]))).astype("int64")


@pytest.mark.parametrize(("labels", "told"), [
    (drawn, True), (lambda x: drawn(x)[::-1], False), (lambda x: drawn(x) + (x[:, 1] > 1), True),
    (lambda x: np.random.default_rng(1).normal(0.1 * x[:, 0]), True), (lambda x: np.random.default_rng(1).normal(size=(len(x), 2)), False)])
def test_of_many_rows(labels: Any, *, told: bool) -> None:
    found = measured(6000, labels)
    assert found is not None
    assert found.rows == 6000
    assert (found.correlation > found.chance) is told


def test_of_few_rows_the_baseline_says_all() -> None:
    assert measured(600, drawn) is None


def test_of_many_columns_nothing_is_asked() -> None:
    facts = ProbeFacts()
    baseline.measure(Table(np.zeros((1000, 300), "float32"), np.arange(1000) % 2), facts, lambda _rows, _labels: None)
    assert facts.weak is None


def test_a_weak_signal_is_no_fault() -> None:
    seen = uninformative()
    assert judge("D106", seen) == "found"
    seen.probes.weak = WeakFacts(rows=20_000, correlation=0.02, chance=0.03)
    assert judge("D106", seen) == "found"
    seen.probes.weak = WeakFacts(rows=20_000, correlation=0.14, chance=0.03)
    assert "a weak signal is no fault" in judge("D106", seen)
