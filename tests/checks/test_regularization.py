"""S406, and what S401 says beside it, on observations made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.evaluation_facts import ScaleFacts
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts, ProbeFacts, RestraintFacts
from harness.checks.tensor_facts import TensorFacts
from tests.checks.made import SITE, curve, finding, healthy, judge, steps


def run(start: float, end: float, count: int) -> CurveFacts:
    return CurveFacts(learning_rate=1e-3, losses=[start] * count, start_loss=start, final_loss=end)


def held(own: float = 1.09, without: float = 0.4, count: int = 240, start: float = 1.1, kind: Any = "decay",
         amount: float = 0.005, *, coupled: bool = False) -> Observation:
    seen = healthy()
    seen.steps = steps([start] * 60)
    restraint = RestraintFacts(kind=kind, amount=amount, own=run(start, own, count), without=run(start, without, 60), coupled=coupled,
                               site=SITE)
    seen.probes = ProbeFacts(restraints=[restraint])
    return seen


def test_weight_decay() -> None:
    found = finding("S406", held())
    assert "is at 1.09 in 240 steps" in found.message
    assert "falls to 0.4 in 60" in found.message
    assert found.site == SITE


@pytest.mark.parametrize("seen", [
    held(own=0.8), held(without=0.9), held(count=60), held(own=0.8, start=2.0)],
    ids=["learns slowly", "no better without", "not seen for longer", "comes down under a guess"])
def test_silence(seen: Observation) -> None:
    assert judge("S406", seen) != "found"


@pytest.mark.parametrize(("amount", "coupled", "fault"), [(0.05, False, True), (0.01, False, False), (0.05, True, False)])
def test_a_decay_that_has_come_to_rest_is_not_tried_for_longer(amount: float, *, coupled: bool, fault: bool) -> None:
    assert (judge("S406", held(count=60, amount=amount, coupled=coupled)) == "found") is fault


def test_a_start_above_a_guess_is_none_to_come_down_from() -> None:
    assert judge("S406", held(own=1.05, start=1.6)) == "found"


@pytest.mark.parametrize(("told", "fault"), [(0.34, False), (0.9, True)])
def test_rows_that_a_baseline_knows_nothing_of_may_be_learnt_by_heart(told: float, *, fault: bool) -> None:
    seen = held()
    seen.probes.text_baseline, seen.probes.text_baseline_shuffled, seen.probes.text_baseline_rows = told, 0.33, 600
    assert (judge("S406", seen) == "found") is fault


def test_a_rate_is_not_too_high_where_the_decay_is() -> None:
    seen = held()
    seen.probes.train, seen.probes.train_scaled = curve(1.1, 1.1), [curve(1.1, 0.3, rate=5e-5)]
    seen.probes.overfit, seen.probes.overfit_scaled = curve(1.1, 1.1), [curve(1.1, 0.3, rate=1e-4)]
    assert judge("S401", seen) != "found"
    seen.probes.restraints = []
    assert judge("S401", seen) == "found"


@pytest.mark.parametrize(("kind", "wanted"), [
    ("dropout", "Drop less"), ("augmentation", "value_range"), ("penalty", "Divide the penalty's factor"), ("decay", "weight_decay=0.01")])
def test_remedies(kind: str, wanted: str) -> None:
    assert wanted in finding("S406", held(kind=kind)).remedy


@pytest.mark.parametrize(("amount", "kind", "wrong"), [(0.9, "dropout", True), (0.5, "dropout", False), (0.9, "decay", False)])
def test_dropout_that_nobody_means_makes_a_training_slow(amount: float, kind: str, *, wrong: bool) -> None:
    seen = held(own=0.6, without=0.2, kind=kind)
    seen.probes.restraints[0].amount = amount
    assert (judge("S406", seen) == "found") is wrong


def other_optimizer(**changed: Any) -> Observation:
    """SGD that learns at no rate, the training over."""
    seen = held(kind="optimizer", **changed)
    seen.probes.restraints[0].name = "SGD"
    seen.probes.train, seen.probes.train_scaled = curve(1.1, 1.1), [curve(1.1, 1.09, rate=0.2)]
    seen.stopped, seen.truncated_at = "finished", None
    return seen


def test_an_optimizer_that_gets_nowhere() -> None:
    found = finding("S407", other_optimizer())
    assert found.message.startswith("SGD gets nowhere with this model: the loss of the rows stays at 1.09 in 240 steps")
    assert found.site == SITE
    assert judge("S406", other_optimizer()) != "found"


@pytest.mark.parametrize("changed", [{"own": 0.8}, {"without": 0.9}, {"count": 60}])
def test_an_optimizer_that_will_do(changed: dict[str, Any]) -> None:
    assert judge("S407", other_optimizer(**changed)) != "found"


def test_steps_to_come_are_waited_for() -> None:
    seen = other_optimizer()
    seen.stopped = "enough steps"
    assert judge("S407", seen) == "what comes of the script's further steps is not known"


@pytest.mark.parametrize(("zeros", "held_zeros", "end", "shape", "fault"), [
    (0.9, 0.0, 1.0, [8], True), (0.5, 0.0, 1.0, [8], False), (0.9, 0.9, 1.0, [8], False), (0.9, 0.0, 0.2, [8], False),
    (0.9, 0.0, 1.0, [3], False)],
    ids=["blotted out", "half hidden", "sparse rows", "learns all the same", "fills in what is hidden"])
def test_masks_that_leave_nothing(zeros: float, held_zeros: float, end: float, shape: list[int], *, fault: bool) -> None:
    seen = healthy()
    seen.steps = steps([1.1 + (end - 1.1) * step / 59 for step in range(60)])
    assert seen.model is not None
    seen.model.output = TensorFacts(shape=[4, 3], dtype="float32")
    seen.evaluation.scale = ScaleFacts(mean=0.0, std=0.2, held_mean=0.1, held_std=0.9, held_stds=(0.9, 0.9), shape=shape, zeros=zeros,
                                       held_zeros=held_zeros)
    assert (judge("S406", seen) == "found") is fault
    if fault:
        assert "90% of the numbers" in finding("S406", seen).message
