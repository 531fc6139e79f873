"""L212, on observations made by hand."""

from __future__ import annotations

import pytest

from harness.checks.loss_facts import WeightFacts
from harness.checks.observation import Observation
from tests.checks.made import finding, healthy, judge

COUNTS = [600, 300, 100]


def weighted(weights: list[float], counts: list[int] | None = None, kind: str = "class", rows: int | None = None) -> Observation:
    seen = healthy()
    counts = COUNTS if counts is None else counts
    seen.loaders[0].label_counts = {}
    seen.weights = WeightFacts(kind=kind, weights=weights, counts=counts, rows=rows or sum(counts))  # type: ignore[arg-type]
    return seen


@pytest.mark.parametrize("weights", [[0.6, 0.3, 0.1], [6.0, 3.0, 1.0], [0.775, 0.548, 0.316], [1.5, 0.43, 0.111]],
                         ids=["frequencies", "a multiple", "their roots", "their odds"])
def test_the_wrong_way_round(weights: list[float]) -> None:
    found = finding("L212", weighted(weights))
    assert "wrong way round" in found.message
    assert "class 2: 10.0 % of the rows" in " ".join(found.evidence)


@pytest.mark.parametrize("weights", [[1 / 6, 1 / 3, 1.0], [0.55, 1.11, 3.33], [0.41, 0.577, 1.0], [1.0, 1.0, 1.0], [1.0, 2.0, 5.0],
                                     [3.0, 1.0, 1.0], [0.5, 1.0, 1.5]])
def test_weights_that_are_in_order_or_a_choice(weights: list[float]) -> None:
    assert judge("L212", weighted(weights)) == "clean"


def test_weights_of_other_classes() -> None:
    found = finding("L212", weighted([3.33, 0.55, 1.11]))
    assert "other classes" in found.message


@pytest.mark.parametrize(("order", "state"), [([0, 1, 2, 3, 4], "clean"), ([2, 4, 3, 1, 0], "found"), ([0, 1, 2, 4, 3], "clean")])
def test_weights_by_the_effective_number(order: list[int], state: str) -> None:
    """`(1 - b) / (1 - b ** n)` is no power of how often a class comes, but near one. The last: two of about as many rows."""
    counts = [2343, 359, 163, 72, 62]
    weights = [0.0005 / (1 - 0.9995 ** counts[number]) for number in order]
    assert judge("L212", weighted(weights, counts)) == state


def test_weights_of_five_classes_that_are_a_choice() -> None:
    assert judge("L212", weighted([1.0, 5.0, 1.0, 2.0, 10.0], [2343, 359, 163, 72, 62])) == "clean"


def test_the_whole_dataset_goes_before_what_came() -> None:
    seen = weighted([0.1, 0.3, 0.6], counts=[200, 200, 200])
    seen.loaders[0].label_counts = {"0": 100, "1": 300, "2": 600}
    assert "wrong way round" in finding("L212", seen).message


@pytest.mark.parametrize(("weights", "counts", "found"), [
    ([0.111], [100], True), ([9.0], [100], False), ([0.11, 0.43], [100, 300], True), ([9.0, 2.33], [100, 300], False),
    ([0.9], [500], False), ([0.5], [100], False)])
def test_positives(weights: list[float], counts: list[int], *, found: bool) -> None:
    assert (judge("L212", weighted(weights, counts, "positive", 1000)) == "found") is found


def test_too_few_to_tell() -> None:
    assert "too few" in judge("L212", weighted([0.6, 0.3, 0.1], [6, 3, 1]))
    assert judge("L212", healthy()) == "clean"
