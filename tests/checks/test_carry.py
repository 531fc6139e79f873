"""D106 where a plain baseline is no fair judge: what the model itself learns from some rows, and whether that helps with others."""

from __future__ import annotations

import numpy as np
import pytest

from harness.checks.data_facts import SourceFacts
from harness.checks.evaluation_facts import RelationFacts
from harness.checks.probe_facts import CarryFacts, CurveFacts, ProbeFacts, TwinFacts
from harness.checks.tensor_facts import TensorFacts
from harness.frameworks.watch.carry import Portion, factor, measure
from tests.checks.made import SITE, finding, judge, text_batch
from tests.checks.test_data import uninformative

BY_HEART = CarryFacts(rows=640, held_rows=320, steps=600, accuracy=0.9, loss=0.4, held_accuracy=0.34, held_loss=2.0, held_majority=0.34)


def unclear(carry: CarryFacts | None):
    seen = uninformative()
    assert seen.model is not None
    seen.model.pretrained = None
    seen.probes.carry = carry
    return seen


def test_rows_learnt_by_heart_that_help_with_no_others() -> None:
    assert "34 % of 320 others" in " ".join(finding("D106", unclear(BY_HEART)).evidence)


def test_pairs_can_be_judged_so_too() -> None:
    seen = unclear(BY_HEART)
    seen.batches = [text_batch(texts=["[CLS] a [SEP] b [SEP]"])]
    assert judge("D106", seen) == "found"


@pytest.mark.parametrize(("rows", "inputs", "agree", "state"), [
    (500, 9, 0.34, "found"), (500, 9, 0.5, "too simple"), (80, 40, 0.34, "too simple"), (250, 9, 0.34, "too simple"),
    (250, 90, 0.34, "found")])
def test_equal_inputs_whose_labels_differ(rows: int, inputs: int, agree: float, state: str) -> None:
    seen = unclear(None)
    assert "too simple" in judge("D106", seen)
    seen.probes.twins = TwinFacts(rows=rows, inputs=inputs, agree=agree, chance=0.33)
    assert state in judge("D106", seen)


def test_inputs_alone_that_are_put_into_an_order() -> None:
    seen = unclear(None)
    made = SourceFacts(site=SITE, kind="made")
    seen.sources = {"labels": [made], "inputs": [SourceFacts(site=SITE, kind="reordered", by="table.shuffle(seed=1)"), made]}
    assert judge("D106", seen) == "found"
    seen.sources["labels"] = seen.sources["inputs"]
    assert "too simple" in judge("D106", seen)


def test_rows_that_are_more_than_their_main_input_contradict_nobody() -> None:
    seen = unclear(None)
    seen.probes.twins = TwinFacts(rows=500, agree=0.34, chance=0.33)
    for batch in seen.batches:
        batch.columns["pixel_values"] = TensorFacts(shape=(4, 3), dtype="float32")
    assert "too simple" in judge("D106", seen)


@pytest.mark.parametrize(("name", "value"), [("accuracy", 0.5), ("held_accuracy", 0.5), ("held_accuracy", 0.41), ("held_loss", 0.3)])
def test_not_by_heart_or_it_helps(name: str, value: float) -> None:
    carry = CarryFacts(**{field: getattr(BY_HEART, field) for field in BY_HEART.__struct_fields__} | {name: value})
    assert judge("D106", unclear(carry)) != "found"


def test_a_table_learnt_by_heart_in_part_at_a_higher_rate() -> None:
    seen = uninformative()
    seen.probes.overfit = CurveFacts(learning_rate=1e-3, losses=[1.1] * 40)
    seen.probes.overfit_scaled = [CurveFacts(learning_rate=1e-2, losses=[1.1 - 0.025 * step for step in range(40)])]
    assert judge("D106", seen) != "found"
    seen.probes.carry = CarryFacts(rows=640, held_rows=320, steps=600, accuracy=0.55, loss=0.9, held_accuracy=0.34, held_loss=1.3,
                                   held_majority=0.34)
    assert judge("D106", seen) == "found"


@pytest.mark.parametrize(("held", "answered", "state"), [(0.34, 0.4, "found"), (0.6, 0.4, "clean"), (0.34, 1.0, "clean")])
def test_a_training_that_learns_its_rows_by_heart_itself(held: float, answered: float, state: str) -> None:
    seen = unclear(BY_HEART)
    for number, step in enumerate(seen.steps):
        step.loss = 1.1 - 0.8 * number / len(seen.steps)
    for number, call in enumerate(seen.loss_calls):
        call.value = 1.1 - 0.8 * number / len(seen.loss_calls)
    seen.evaluation.relation = RelationFacts(trained=0.8, trained_rows=600, held=held, rows=300, classes=True, trained_majority=0.34,
                                             majority=0.34, answered=answered)
    assert judge("D106", seen) == state


@pytest.mark.parametrize(("by_chance", "state"), [(None, "found"), (0.82, "found"), (0.76, "clean")])
def test_a_training_with_as_many_rows_of_each_class(by_chance: float | None, state: str) -> None:
    """In the evaluation 94 % have one label: who answers with both more evenly is wrong more often than a guess, and may know much."""
    seen = unclear(BY_HEART)
    for number, step in enumerate(seen.steps):
        step.loss = 1.1 - 0.8 * number / len(seen.steps)
    for number, call in enumerate(seen.loss_calls):
        call.value = 1.1 - 0.8 * number / len(seen.loss_calls)
    seen.evaluation.relation = RelationFacts(trained=0.87, trained_rows=2048, held=0.82, rows=1250, classes=True, trained_majority=0.51,
                                             majority=0.94, answered=0.81, by_chance=by_chance)
    assert judge("D106", seen) == state


def asked(labels: np.ndarray, losses: list[float], rows: int = 640) -> tuple[ProbeFacts, list[tuple[list[int], list[int]]]]:
    """What is fitted and held out, of steps of 32 rows that come again after `rows`."""
    calls: list[tuple[list[int], list[int]]] = []

    def fit(fitted: list[int], held: list[int]) -> tuple[CurveFacts, float | None, float]:
        calls.append((fitted, held))
        return CurveFacts(learning_rate=1e-3, losses=[1.0], accuracy=0.9, final_loss=0.3), 0.5, 0.9

    facts = ProbeFacts()
    portions = [Portion(step, labels[(step * 32 + np.arange(32)) % rows].tolist(), [(step * 32 + row) % rows for row in range(32)])
                for step in range(60)]
    measure(fit, portions, losses, facts)
    return facts, calls


def test_nothing_that_was_fitted_is_held_out() -> None:
    labels = np.random.default_rng(0).integers(0, 2, 640)
    facts, [(fitted, held)] = asked(labels, [0.69] * 60)
    assert not set(fitted) & set(held)
    assert max(fitted + held) < 20  # the first epoch only
    assert facts.carry is not None
    assert (facts.carry.rows, facts.carry.held_rows) == (32 * len(fitted), 32 * len(held))


@pytest.mark.parametrize("losses", [[0.69] * 20, [0.69 - 0.01 * step for step in range(60)], [3.0] * 60])
def test_not_asked_of_what_learns_or_is_too_short(losses: list[float]) -> None:
    assert asked(np.random.default_rng(0).integers(0, 2, 640), losses)[1] == []


def test_too_few_rows() -> None:
    facts, calls = asked(np.random.default_rng(0).integers(0, 2, 640), [0.69] * 60, rows=160)
    assert calls == []
    assert "too few" in facts.skipped["carry"]


@pytest.mark.parametrize(("losses", "faster", "step_s", "by"), [
    ([1.0, 0.3], [], 0.01, 1.0), ([1.0, 0.9], [], 0.01, None), ([1.0, 0.3], [], 0.5, None),
    ([1.0, 0.9], [1e-2], 0.01, 10.0), ([1.0, 0.9], [1e-4], 0.01, None), ([1.0, 0.9], [1e-1], 0.01, None)])
def test_only_asked_where_it_can_tell(losses: list[float], faster: list[float], step_s: float, by: float | None) -> None:
    facts = ProbeFacts(overfit=CurveFacts(learning_rate=1e-3, losses=losses),
                       overfit_scaled=[CurveFacts(learning_rate=rate, losses=[1.0, 0.2]) for rate in faster])
    assert factor(facts, step_s, 9.0) == (None if by is None else pytest.approx(by))
    assert ("carry" in facts.skipped) is (step_s > 0.1)


def test_a_baseline_of_few_different_inputs_wavers_more() -> None:
    seen = unclear(BY_HEART)
    seen.probes.text_baseline, seen.probes.text_baseline_shuffled, seen.probes.text_baseline_rows = 0.41, 0.33, 900
    assert judge("D106", seen) == "clean"
    seen.probes.twins = TwinFacts(rows=1245, inputs=242, agree=0.33, chance=0.33)
    assert judge("D106", seen) == "found"
    seen.probes.text_baseline = 0.48
    assert judge("D106", seen) == "clean"


def test_a_second_judge_that_finds_nothing_outweighs_a_baseline_that_wavers() -> None:
    """900 rows tell a share of one third to 0.016: the difference of two such shares to 0.022."""
    seen = unclear(BY_HEART)
    seen.probes.text_baseline, seen.probes.text_baseline_shuffled, seen.probes.text_baseline_rows = 0.38, 0.33, 900
    assert judge("D106", seen) == "found"
    seen.probes.carry = None
    assert judge("D106", seen) == "clean"
