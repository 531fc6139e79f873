"""What counts as not learning: coming down to a guess from a head that began above it, and weights thrown far beyond their size."""

from __future__ import annotations

import math

import pytest

from harness.checks.model_facts import OptimizerFacts, ParameterFacts
from harness.checks.probe_facts import CurveFacts
from harness.checks.reading import failed
from harness.frameworks.watch.rounds import used_up
from tests.checks.made import curve, healthy, judge, steps


@pytest.mark.parametrize(("start", "end", "guess", "verdict"), [
    (1.33, 1.10, 1.0986, True), (1.33, 1.10, None, False), (1.33, 0.85, 1.0986, False), (1.10, 1.09, 1.0986, True),
    (17.6, 9.0, 1.0986, False), (1.33, 1.05, 1.0986, True)])
def test_where_a_fall_begins(start: float, end: float, guess: float | None, verdict: bool) -> None:
    assert failed(curve(start, end), guess) is verdict


@pytest.mark.parametrize(("displacement", "own", "other", "found"), [
    (14.0, 0.94, 0.48, True), (1.2, 0.94, 0.48, False), (14.0, 0.8, 0.3, False), (14.0, 0.94, 0.7, False), (None, 0.94, 0.48, False)])
def test_weights_carried_far_beyond_their_size(displacement: float | None, own: float, other: float, found: bool) -> None:
    seen = healthy()
    assert seen.model is not None
    seen.model.displacement = displacement
    seen.steps = steps([1.08, 90.0, *[1.05] * 40])
    seen.probes.overfit = curve(1.08, 1.0, rate=0.5)
    seen.probes.overfit_scaled = []
    seen.probes.train = CurveFacts(learning_rate=0.5, losses=[1.08, 90.0, *[1.05] * 40], start_loss=1.09, final_loss=own)
    seen.probes.train_scaled = [CurveFacts(learning_rate=0.005, losses=[1.08, 1.0, *[other] * 40], start_loss=1.09, final_loss=other)]
    assert (judge("S401", seen) == "found") is found


@pytest.mark.parametrize(("displacement", "other", "found"), [(14.0, 1.0, True), (14.0, 1.2, False), (1.2, 1.0, False)])
def test_a_smaller_rate_that_is_on_its_way(displacement: float, other: float, found: bool) -> None:
    seen = healthy()
    assert seen.model is not None
    seen.model.displacement, seen.classes = displacement, 5
    seen.steps = steps([1.61, 26.0, *[1.6] * 40])
    seen.probes.overfit = curve(1.62, 1.6, rate=0.02)
    seen.probes.overfit_scaled = []
    seen.probes.train = CurveFacts(learning_rate=0.02, losses=[1.61, 26.0, *[1.6] * 40], start_loss=1.61, final_loss=1.64)
    seen.probes.train_scaled = [CurveFacts(learning_rate=2e-4, losses=[1.62] * 30 + [other] * 12, start_loss=1.61, final_loss=other)]
    assert (judge("S401", seen) == "found") is found


@pytest.mark.parametrize(("displacement", "found"), [(1e-5, True), (0.02, False)])
def test_a_loss_that_moves_beside_weights_that_do_not(displacement: float, found: bool) -> None:
    seen = healthy()
    assert seen.model is not None
    seen.model.displacement = displacement
    seen.model.parameters = [ParameterFacts(name="weight", size=100, update_ratio=1e-7)]
    seen.steps = steps([1.2] * 40)
    seen.probes.overfit = curve(1.3, 1.2, rate=1e-6)
    seen.probes.overfit_scaled = []
    seen.probes.train = CurveFacts(learning_rate=1e-6, losses=[1.2] * 40, start_loss=1.31, final_loss=1.19)
    seen.probes.train_scaled = [CurveFacts(learning_rate=1e-2, losses=[1.3, *[0.4] * 40], start_loss=1.31, final_loss=0.4)]
    assert (judge("S402", seen) == "found") is found


@pytest.mark.parametrize(("stopped", "cut", "end", "found"), [
    ("finished", None, 1.195, True), ("enough steps", None, 1.195, False), ("finished", 40, 1.195, False), ("finished", None, 1.1, False)])
def test_a_slow_rate_is_too_low_where_the_training_is_over(stopped: str, cut: int | None, end: float, found: bool) -> None:
    seen = healthy()
    assert seen.model is not None
    seen.model.displacement, seen.stopped, seen.truncated_at = 0.01, stopped, cut
    seen.model.parameters = [ParameterFacts(name="weight", size=100, update_ratio=1e-3)]
    seen.steps = steps([1.2] * 40)
    seen.probes.overfit, seen.probes.overfit_scaled = curve(1.2, 1.19, rate=2e-5), [curve(1.2, 0.4, rate=2e-4)]
    seen.probes.train = CurveFacts(learning_rate=2e-5, losses=[1.2] * 40, start_loss=1.2, final_loss=end)
    seen.probes.train_scaled = [CurveFacts(learning_rate=2e-3, losses=[1.2, *[0.4] * 40], start_loss=1.2, final_loss=0.4)]
    assert (judge("S402", seen) == "found") is found


@pytest.mark.parametrize(("left", "found"), [(0.3, True), (0.7, False)])
def test_a_rate_that_has_fallen_to_half_will_do_no_more(left: float, found: bool) -> None:
    seen = healthy()
    assert seen.model is not None
    seen.model.displacement, seen.stopped, seen.truncated_at = 0.01, "finished", 60
    seen.model.parameters = [ParameterFacts(name="weight", size=100, update_ratio=1e-3)]
    seen.steps = steps([1.2] * 60)
    for step in seen.steps:
        step.learning_rate = 2e-5 * (1 - (1 - left) * step.step / 60)
    seen.probes.overfit, seen.probes.overfit_scaled = curve(1.2, 1.19, rate=2e-5), [curve(1.2, 0.4, rate=2e-4)]
    seen.probes.train = CurveFacts(learning_rate=2e-5, losses=[1.2] * 60, start_loss=1.2, final_loss=1.195)
    seen.probes.train_scaled = [CurveFacts(learning_rate=2e-3, losses=[1.2, *[0.4] * 40], start_loss=1.2, final_loss=0.4)]
    assert (judge("S402", seen) == "found") is found


@pytest.mark.parametrize(("own", "kept", "length", "found"), [
    (0.8, 0.3, 60, True), (0.8, 0.6, 60, False), (0.8, 0.3, 20, False), (0.3, 0.05, 60, False)])
def test_a_schedule_that_leaves_too_little_of_the_rate(own: float, kept: float, length: int, found: bool) -> None:
    seen = healthy()
    seen.steps = steps([1.2 - 0.01 * min(step, 60) for step in range(60)])
    for step in seen.steps:
        step.learning_rate = 1e-3 * 0.5 ** (step.step // 5)
    seen.probes.train = CurveFacts(learning_rate=1e-3, losses=[1.2] * 60, start_loss=1.2, final_loss=own)
    seen.probes.train_kept = CurveFacts(learning_rate=1e-3, losses=[1.2] * length, start_loss=1.2, final_loss=kept)
    assert (judge("S402", seen) == "found") is found


@pytest.mark.parametrize(("period", "epochs", "found"), [(20, 10, True), (10, 10, True), (20, 12, False), (20, 2, False)])
def test_a_cycle_of_as_many_steps_as_there_are_epochs(period: int, epochs: int, found: bool) -> None:
    seen = healthy()
    seen.optimizer = OptimizerFacts(kind="SGD", training_steps=150 * epochs)
    seen.steps = steps([1.2 - 0.01 * step for step in range(60)])
    for number, step in enumerate(seen.steps):
        step.learning_rate = 0.01 * (1 + math.cos(2 * math.pi * number / period)) / 2
    assert (judge("S402", seen) == "found") is found


@pytest.mark.parametrize(("rates", "early"), [
    ([1e-3 * 0.5 ** (step // 5) for step in range(60)], True), ([1e-3] * 60, False),
    ([5e-4 * (1 + math.cos(math.pi * step / 60)) for step in range(60)], False),  # all of a short training
    ([1e-3 * min(step, 10) / 10 for step in range(60)], False)])
def test_when_the_rate_is_kept_for_comparison(rates: list[float], early: bool) -> None:
    assert used_up(rates) is early


@pytest.mark.parametrize(("length", "other", "found"), [(46, 0.45, True), (46, 0.7, False), (20, 0.45, False)])
def test_one_batch_that_was_fitted_does_not_excuse_a_rate_that_fails_over_batches(length: int, other: float, found: bool) -> None:
    seen = healthy()
    seen.classes = 3
    seen.steps = steps([1.1] * 48)
    seen.probes.overfit = curve(1.06, 0.28, rate=1e-3)
    seen.probes.overfit_scaled = [curve(1.06, 0.6, rate=1e-4)]
    seen.probes.train = CurveFacts(learning_rate=1e-3, losses=[1.06, *[1.1] * (length - 1)], start_loss=1.1, final_loss=1.1)
    seen.probes.train_scaled = [CurveFacts(learning_rate=5e-5, losses=[1.06, *[other] * (length - 1)], start_loss=1.1, final_loss=other)]
    assert (judge("S401", seen) == "found") is found


@pytest.mark.parametrize(("late", "other", "fitted", "found"), [
    (1.10, 0.38, True, True), (1.10, 0.38, False, False), (0.95, 0.38, True, False), (1.10, 0.9, True, False)])
def test_a_rate_at_which_only_the_frequency_of_labels_is_learnt(late: float, other: float, fitted: bool, found: bool) -> None:
    seen = healthy()
    assert seen.model is not None
    seen.model.displacement, seen.classes = 2.6, 5
    seen.steps = steps([1.6, *[1.10] * 25, *[late] * 25])
    seen.probes.overfit = curve(1.6, 1.27, rate=0.01)
    seen.probes.overfit_scaled = [curve(1.6, 0.4 if fitted else 1.2, rate=0.001)]
    seen.probes.train = CurveFacts(learning_rate=0.01, losses=[1.6, *[1.10] * 25, *[late] * 25], start_loss=1.6, final_loss=late)
    seen.probes.train_scaled = [CurveFacts(learning_rate=2e-4, losses=[1.6, 1.2, *[other] * 40], start_loss=1.6, final_loss=other)]
    assert (judge("S401", seen) == "found") is found
