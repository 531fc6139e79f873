"""D108, on observations made by hand: inputs that hurt, inputs that only look large, and what is not the inputs' fault."""

from __future__ import annotations

import math

import pytest

from harness.checks.data_facts import BatchFacts, LoaderFacts, SourceFacts
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.probe_facts import ProbeFacts
from harness.checks.tensor_facts import TensorFacts
from tests.checks.made import SITE, curve, finding, judge, steps


def pixels(low: float = 0.0, high: float = 255.0) -> Observation:
    seen = Observation(framework="torch", task="classification", classes=10, stopped="finished", steps=steps([30.0] + [2.4] * 39))
    facts = TensorFacts(shape=(32, 1, 28, 28), dtype="float32", minimum=low, maximum=high, mean=(low + high) / 4, std=(high - low) / 3)
    seen.batches = [BatchFacts(columns={"x": facts}, labels=list(range(8)), inputs_key="x")]
    return seen


def test_pixels_that_hurt() -> None:
    seen = pixels()
    seen.probes = ProbeFacts(train=curve(30.0, 2.4), train_standardised=curve(2.3, 0.6))
    assert "/ 255" in finding("D108", seen).remedy
    seen.probes = ProbeFacts(initial_loss=30.0)
    assert "initial loss 30" in finding("D108", seen).message


@pytest.mark.parametrize("change", ["scaled", "learns as it is", "normalised in the model", "nothing probed", "neither learns"])
def test_large_numbers_that_do_not_hurt(change: str) -> None:
    seen = pixels(*((0.0, 1.0) if change == "scaled" else (0.0, 255.0)))
    if change == "scaled":
        seen.probes = ProbeFacts(initial_loss=30.0)
    elif change == "learns as it is":
        seen.probes = ProbeFacts(train=curve(2.4, 0.5), train_standardised=curve(2.3, 0.3))
    elif change == "normalised in the model":
        seen.probes = ProbeFacts(initial_loss=math.log(10))
    elif change == "neither learns":
        seen.probes = ProbeFacts(train=curve(2.4, 2.3), train_standardised=curve(2.3, 2.3))
    assert judge("D108", seen) != "found"


def test_features_of_different_scale() -> None:
    seen = pixels()
    facts = TensorFacts(shape=(32, 4), dtype="float32", minimum=-2.0, maximum=90000.0, mean=9000.0, std=20000.0, column_stds=(0.4, 30000.0))
    seen.batches = [BatchFacts(columns={"x": facts}, inputs_key="x")]
    seen.task, seen.classes = "regression", None
    seen.loss_calls = [LossCall(name="mse", target=TensorFacts(shape=(32,), dtype="float32", std=1.0))]
    seen.probes = ProbeFacts(train=curve(1e6, 40.0), train_standardised=curve(1.2, 0.1))
    assert "very different scales" in finding("D108", seen).message
    assert "StandardScaler" in finding("D108", seen).remedy


@pytest.mark.parametrize(("end", "other", "wrong"), [(-0.71, -0.64, False), (-0.71, -0.9, False), (0.39, -0.9, True)])
def test_a_likelihood_that_falls_below_zero(end: float, other: float, wrong: bool) -> None:
    seen = pixels()
    facts = TensorFacts(shape=(32, 9, 4), dtype="float32", minimum=0.0, maximum=14.0, mean=0.3, std=1.1, column_stds=(4e-4, 4.8))
    seen.batches = [BatchFacts(columns={"x": facts}, inputs_key="x")]
    seen.task, seen.classes, seen.loss_calls = "regression", None, []
    seen.probes = ProbeFacts(train=curve(0.41, end), train_standardised=curve(0.41, other))
    assert (judge("D108", seen) == "found") is wrong


@pytest.mark.parametrize(("mean", "wrong"), [(0.0, True), (30.0, False)])
def test_targets_far_from_zero_cost_what_they_cost(mean: float, wrong: bool) -> None:
    seen = pixels()
    seen.task, seen.classes, seen.steps = "regression", None, steps([700.0] * 30 + [110.0] * 30)
    seen.loss_calls = [LossCall(name="mse", target=TensorFacts(shape=(64, 1), dtype="float32", mean=mean, std=10.0))]
    seen.probes = ProbeFacts(initial_loss=740.0)
    assert (judge("D108", seen) == "found") is wrong


def test_a_layer_that_was_never_shown_the_inputs() -> None:
    seen = pixels()
    seen.framework, seen.sites = "keras", {"unadapted": SITE}
    seen.probes = ProbeFacts(train=curve(30.0, 2.4), train_standardised=curve(2.3, 0.6))
    found = finding("D108", seen)
    assert "norm.adapt(x_train)" in found.remedy
    assert found.site == SITE


def test_a_weighted_loss_is_no_entropy() -> None:
    seen = pixels()
    seen.loaders = [LoaderFacts(label_counts={"0": 950, "1": 50}, rows=1000)]
    seen.classes, seen.loss_calls = 2, [LossCall(name="bce", weighted=True)]
    seen.steps = steps([0.67] * 30)
    seen.probes = ProbeFacts(initial_loss=0.67)  # ln 2, of weights that make both classes count alike
    assert judge("D108", seen) != "found"
    seen.loss_calls[0].weighted = False
    assert judge("D108", seen) == "found"


def test_without_a_loader_the_line_that_makes_the_inputs_is_named() -> None:
    seen = pixels()
    made = SITE.__class__(file=SITE.file, line=7, source="x = torch.tensor(raw)")
    seen.loaders, seen.sources = [], {"inputs": [SourceFacts(site=made, kind="taken"), SourceFacts(site=made, kind="converted")]}
    seen.probes, seen.sites = ProbeFacts(initial_loss=30.0), {"model": SITE}
    assert finding("D108", seen).site == made
    seen.sites["fit"] = SITE
    assert finding("D108", seen).site == SITE
