"""No finding is a clean bill only where the silence can be trusted."""

from __future__ import annotations

from harness.checks.base import walk
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.probe_facts import CarryFacts, CurveFacts
from harness.checks.tensor_facts import TensorFacts
from harness.diagnosis.record import conclude
from tests.checks.made import curve, healthy, steps


def verdict(seen: Observation) -> tuple[str, str]:
    found = conclude("train.py", seen, walk(seen))
    return found.verdict, found.reason or ""


def test_a_run_that_learns() -> None:
    assert verdict(healthy()) == ("clean", "")


def guessing() -> Observation:
    seen = healthy()
    seen.steps = steps([1.0986] * 60)
    return seen


def test_a_loss_that_stays_at_a_guess_with_checks_that_could_not_judge() -> None:
    word, reason = verdict(guessing())
    assert word == "no verdict"
    assert "D106" in reason
    assert "1.10" in reason


def test_a_loss_that_has_left_the_guess() -> None:
    seen = guessing()
    seen.steps = steps([1.0986] * 30 + [0.9] * 30)
    assert verdict(seen)[0] == "clean"


def test_experiments_without_time() -> None:
    seen = guessing()
    seen.probes.skipped["overfit"] = "one step takes 0.7 s"
    assert "--watch 90" in verdict(seen)[1]


def test_a_baseline_that_learns_what_the_model_does_not() -> None:
    seen = guessing()
    seen.probes.skipped.clear()
    seen.probes.text_baseline, seen.probes.text_baseline_shuffled, seen.probes.text_baseline_rows = 0.9, 0.33, 600
    seen.probes.overfit = curve(1.1, 0.05)
    seen.probes.train = curve(1.1, 1.1)
    seen.probes.train_scaled = [curve(1.1, 1.1, rate=rate) for rate in (1e-6, 1e-2)]
    word, reason = verdict(seen)
    assert word == "no verdict"
    assert "a simple baseline is right on 90 %" in reason
    seen.probes.text_baseline = 0.36
    assert "baseline is right" not in verdict(seen)[1]


def test_another_scale_than_a_classifiers() -> None:
    seen = guessing()
    seen.task = "other"
    assert verdict(seen)[0] == "clean"


def test_steps_without_an_optimizer() -> None:
    word, reason = verdict(Observation(framework="torch", backward_without_step=30, reached="backward", stopped="finished"))
    assert word == "no verdict"
    assert "30 losses went backward" in reason


def test_a_finding_needs_no_reason() -> None:
    seen = guessing()
    seen.probes.overfit = curve(1.1, 1.1, accuracy=0.3)
    seen.probes.overfit_scaled = [curve(1.1, 0.05, accuracy=1.0, rate=5e-5)]
    assert verdict(seen) == ("found", "")


def test_a_loss_above_a_guess_and_experiments_without_time() -> None:
    seen = guessing()
    seen.steps = steps([1.0986, 9.0, *[1.6] * 30])
    assert verdict(seen)[0] == "clean"
    seen.probes.skipped["train_scaled x0.05"] = "no time left"
    word, reason = verdict(seen)
    assert word == "no verdict"
    assert "above that of a guess" in reason


def test_a_few_steps_in_all_the_time_there_was() -> None:
    seen = guessing()
    seen.steps = steps([1.0986] * 12)
    assert verdict(seen)[0] == "clean"  # it ended by itself
    seen.stopped = "time"
    assert verdict(seen) == ("no verdict", "only 12 steps fitted into the time (--watch 90 gives it more)")


def test_a_loss_that_rises_where_nothing_fits_a_batch() -> None:
    seen = healthy()
    seen.task, seen.steps = "regression", steps([0.6 + 0.02 * number for number in range(60)])
    flat = curve(0.58, 0.6)
    seen.probes.overfit, seen.probes.overfit_scaled = flat, [flat, flat]
    seen.probes.train = CurveFacts(learning_rate=0.1, losses=[0.6] * 30, start_loss=0.6, final_loss=1.3)
    seen.probes.train_scaled = []
    assert "rises from 0.6 to 1.3" in verdict(seen)[1]
    seen.probes.overfit_scaled = [flat, curve(0.58, 0.1)]
    assert "rises" not in verdict(seen)[1]


def test_a_regression_that_stands_still_where_nothing_fits_a_batch() -> None:
    seen = healthy()
    seen.task, seen.steps = "regression", steps([1.1e15] * 60)
    flat = curve(1.1e15, 1.1e15)
    seen.probes.overfit, seen.probes.overfit_scaled, seen.probes.train_scaled = flat, [flat, flat], []
    seen.probes.train = CurveFacts(learning_rate=0.001, losses=[1.1e15] * 30, start_loss=1.1e15, final_loss=1.099e15)
    seen.loss_calls = [LossCall(name="mse", target=TensorFacts(shape=(32,), dtype="float32", minimum=0.0, maximum=1e8, integral=False))]
    word, reason = verdict(seen)
    assert word == "no verdict"
    assert "stands at 1.1e+15" in reason
    assert "the targets go up to 1e+08" in reason
    seen.loss_calls[0].target.maximum = 3.0
    assert "targets" not in verdict(seen)[1]
    seen.probes.overfit_scaled.append(curve(1.1e15, 0.5e15, rate=1e5 * flat.learning_rate))
    assert verdict(seen)[0] == "no verdict"  # no rate that anybody would try
    seen.probes.overfit_scaled.append(curve(1.1e15, 0.5e15, rate=100 * flat.learning_rate))
    assert verdict(seen)[0] == "clean"
    seen.probes.overfit_scaled, seen.probes.train.final_loss = [flat, flat], 0.9e15
    assert verdict(seen)[0] == "clean"


def test_shares_are_no_classes() -> None:
    seen = guessing()
    seen.loss_calls = [LossCall(name="bce", target=TensorFacts(shape=(32,), dtype="float32", minimum=0.0, maximum=1.0, integral=False))]
    assert verdict(seen)[0] == "clean"


def test_a_copy_that_learnt_much_longer_and_knows_nothing_of_other_rows() -> None:
    seen = guessing()
    seen.probes.skipped.clear()
    seen.probes.text_baseline, seen.probes.text_baseline_shuffled, seen.probes.text_baseline_rows = 0.45, 0.33, 600
    seen.probes.overfit = curve(1.1, 1.09)
    seen.probes.train = curve(1.1, 1.1)
    seen.probes.train_scaled = [curve(1.1, 1.1, rate=rate) for rate in (1e-6, 1e-2)]
    seen.probes.text_baseline = 0.40  # more than chance, and less than a baseline would have to be right on
    word, reason = verdict(seen)
    assert word == "clean"
    assert "after 60 steps the loss is still that of a guess (1.10), so that little speaks for this training yet" in reason
    seen.probes.carry = CarryFacts(rows=640, held_rows=288, steps=1200, accuracy=0.42, loss=1.0, held_accuracy=0.33, held_loss=1.2,
                                   held_majority=0.34)
    word, reason = verdict(seen)
    assert word == "no verdict"
    assert "1200 more on 640 rows" in reason
    seen.probes.carry.held_accuracy = 0.6
    assert verdict(seen)[0] == "clean"
    seen.probes.carry.held_accuracy, seen.probes.carry.steps = 0.33, 100
    assert verdict(seen)[0] == "clean"
