"""The order in which answers and labels come."""

from __future__ import annotations

import pytest

from harness.checks.evaluation_facts import EvaluationFacts, PassesFacts, PredictedFacts
from harness.checks.passes import TwoPasses
from harness.checks.tensor_facts import Site
from tests.checks.facts import found, seen, verdict

ANSWERS = Site(file="train.py", line=40, source="p = model.predict(test)")
LOADER = Site(file="train.py", line=12, source="test = make_loader(rows)")
LABELS = Site(file="train.py", line=41, source="y = labels(test)")


@pytest.mark.parametrize(("framework", "words"), [("torch", "shuffle=False"), ("keras", "training=False")])
def test_two_orders(framework: str, words: str) -> None:
    passes = PassesFacts(rows=400, same=109, chance=0.25, answers=ANSWERS, labels=LABELS)
    finding = found(TwoPasses, seen(framework=framework, evaluation=EvaluationFacts(passes=passes)), "109 of 400", "100", words)
    assert finding.site == LABELS


def test_labels_of_unknown_place() -> None:
    passes = PassesFacts(rows=400, same=109, chance=0.25, answers=ANSWERS)
    assert found(TwoPasses, seen(evaluation=EvaluationFacts(passes=passes))).site == ANSWERS


@pytest.mark.parametrize(("framework", "site"), [("torch", LOADER), ("keras", ANSWERS)])
def test_the_loader_that_shuffles(framework: str, site: Site) -> None:
    passes = PassesFacts(rows=400, same=109, chance=0.25, answers=ANSWERS, loader=LOADER)
    assert found(TwoPasses, seen(framework=framework, evaluation=EvaluationFacts(passes=passes))).site == site


@pytest.mark.parametrize(("loader", "site"), [(LOADER, LOADER), (None, ANSWERS)])
def test_answers_that_a_loader_of_the_script_has_moved(loader: Site | None, site: Site) -> None:
    moved = PredictedFacts(rows=400, answers=True, site=ANSWERS, loader=loader)
    assert found(TwoPasses, seen(evaluation=EvaluationFacts(predicted=[moved])), "shuffle=False").site == site


def test_one_order() -> None:
    assert verdict(TwoPasses, seen()) is None
