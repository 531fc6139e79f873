"""The order in which answers and labels come."""

from __future__ import annotations

import pytest

from harness.checks.evaluation_facts import EvaluationFacts, PassesFacts
from harness.checks.passes import TwoPasses
from harness.checks.tensor_facts import Site
from tests.checks.facts import found, seen, verdict

ANSWERS = Site(file="train.py", line=40, source="p = model.predict(test)")
LABELS = Site(file="train.py", line=41, source="y = labels(test)")


@pytest.mark.parametrize(("framework", "words"), [("torch", "shuffle=False"), ("keras", "training=False")])
def test_two_orders(framework: str, words: str) -> None:
    passes = PassesFacts(rows=400, same=109, chance=0.25, answers=ANSWERS, labels=LABELS)
    finding = found(TwoPasses, seen(framework=framework, evaluation=EvaluationFacts(passes=passes)), "109 of 400", "100", words)
    assert finding.site == LABELS


def test_labels_of_unknown_place() -> None:
    passes = PassesFacts(rows=400, same=109, chance=0.25, answers=ANSWERS)
    assert found(TwoPasses, seen(evaluation=EvaluationFacts(passes=passes))).site == ANSWERS


def test_one_order() -> None:
    assert verdict(TwoPasses, seen()) is None
