"""Facts from events, and rules against facts."""

from __future__ import annotations

import doctest
import math

import pytest

from harness.catalog.schema import ExceptionPattern, FactRule, Rule
from harness.evidence import facts
from harness.evidence.judge import applies, judge, prove
from harness.frameworks import events as events_module
from harness.report import text

STEPS = [{"event": "step", "step": n, "loss": loss, "labels": [0, 1, 2, 0], "nan_labels": [2], "finite_labels": [0, 1, 0]}
         for n, loss in enumerate([1.2, 1.1, "nan", "nan"], 1)]


@pytest.mark.parametrize("module", [facts, events_module, text])
def test_examples_in_docstrings(module) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_losses_become_facts() -> None:
    found = facts.collect(STEPS)
    assert found["steps"] == 4
    assert found["loss.first_nan_step"] == 3
    assert found["loss.min"] == 1.1
    assert math.isnan(found["loss.last_mean"])
    assert found["rows.nan_labels"] == [2]
    assert found["rows.finite_labels"] == [0, 1]
    assert found["labels.majority_share"] == 0.5
    assert found["labels.chance_loss"] == pytest.approx(math.log(3))


def test_a_loss_read_late_counts() -> None:
    found = facts.collect([{"event": "step", "step": 1, "loss": None, "labels": []}, {"event": "late_loss", "step": 1, "loss": 0.5}])
    assert found["loss.first"] == 0.5


def test_what_was_not_measured_is_absent() -> None:
    assert facts.collect([]) == {"steps": 0}


def test_accuracy_is_counted_from_class_ids_or_taken_from_keras() -> None:
    counted = facts.collect([{"event": "evaluation", "labels": [0, 1, 1, 1], "predicted": [0, 1, 0, 1]}])
    assert counted["evaluation.accuracy"] == 0.75
    assert counted["evaluation.majority_share"] == 0.75
    assert facts.collect([{"event": "evaluation", "labels": [0, 1], "accuracy": 0.5}])["evaluation.accuracy"] == 0.5


@pytest.mark.parametrize(("rule", "holds"), [
    (FactRule(fact="a", op=">=", value=2.0), True),
    (FactRule(fact="a", op="<", value=2.0), False),
    (FactRule(fact="a", op="<=", value=0.5, of="b"), True),
    (FactRule(fact="a", op="<=", value=0.1, of="b"), False),
    (FactRule(fact="a", op="<=", of="b"), True),
    (FactRule(fact="a", op="<=", of="gone"), False),
    (FactRule(fact="gone", op="<=", value=1), False),
    (FactRule(fact="gone", op="absent"), True),
    (FactRule(fact="a", op="present"), True),
    (FactRule(fact="rows", op=">=", value=2), True),
    (FactRule(fact="rows", op=">=", value=3), False),
    (FactRule(fact="empty", op=">=", value=0), False),
    (FactRule(fact="nan", op=">=", value=0), False),
    (FactRule(fact="word", op="matches", value="^o.t$"), True),
    (FactRule(fact="word", op=">=", value=1), False),
])
def test_each_operator(rule: FactRule, holds: bool) -> None:
    measured = {"a": 2.5, "b": 10.0, "rows": [2, 4], "empty": [], "nan": math.nan, "word": "out"}
    assert prove(Rule(facts=(rule,)), measured, None).holds is holds


RAISED = {"type": "KeyError", "bases": ["LookupError", "Exception"], "message": "no labels", "stage": "data"}
PATTERN = Rule(exception=ExceptionPattern(type="LookupError", message="labels", stage="data"))


def test_exceptions_match_by_class_message_and_stage() -> None:
    assert prove(PATTERN, {}, RAISED).holds
    for change in ({"stage": "loss"}, {"message": "other"}, {"type": "X", "bases": []}):
        assert not prove(PATTERN, {}, RAISED | change).holds
    assert not prove(PATTERN, {}, None).holds


def test_an_exception_may_come_out_of_one_of_several_stages() -> None:
    either = Rule(exception=ExceptionPattern(type="LookupError", message="labels", stage=("data", "loss")))
    assert [prove(either, {}, RAISED | {"stage": stage}).holds for stage in ("data", "loss", "backward")] == [True, True, False]


def test_an_exception_that_no_rule_expects_disproves() -> None:
    assert not prove(Rule(), {}, RAISED).holds
    assert prove(Rule(), {}, None).holds


def test_when_speaks_of_parameters_and_versions() -> None:
    rule = Rule(when={"device": "cpu", "transformers": ">=5"})
    assert applies(rule, {"device": "cpu"}, {"transformers": "5.23.0"})
    assert not applies(rule, {"device": "cpu"}, {"transformers": "4.57.6"})
    assert not applies(rule, {"device": "xla"}, {"transformers": "5.23.0"})
    assert not applies(rule, {"device": "cpu"}, {})


def test_a_fixed_run_must_learn_and_show_nothing() -> None:
    symptom, learns = Rule(facts=(FactRule(fact="loss", op=">=", value=1.0),)), Rule(facts=(FactRule(fact="accuracy", op=">=", value=0.5),))
    assert judge("fixed", [symptom], [learns], {"loss": 0.1, "accuracy": 0.9}, None, {}, {}).word == "learnt"
    assert not judge("fixed", [symptom], [learns], {"loss": 1.1, "accuracy": 0.9}, None, {}, {}).holds
    assert not judge("fixed", [symptom], [learns], {"loss": 0.1, "accuracy": 0.1}, None, {}, {}).holds
    assert not judge("broken", [], [learns], {}, None, {}, {}).holds
