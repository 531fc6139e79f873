"""The step's checks."""

from __future__ import annotations

import math

import pytest

from harness.checks.base import Finding
from harness.checks.model_facts import OptimizerFacts
from harness.checks.never_stepped import NoStep
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.step import GradientsNotZeroed, OtherWeights, RateTooHigh, RateTooLow, _rate_site
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import BufferFacts, ExceptionFacts
from tests.checks.facts import (
    ADAM,
    FAILS_LEARNS_LARGER,
    FAILS_LEARNS_SMALLER,
    HERE,
    LEARNS,
    NEVER_LEARNS,
    curve,
    died,
    found,
    model,
    parameter,
    probes,
    seen,
    steps,
    verdict,
)

SLOW = model(parameters=[parameter("head.weight", update_ratio=1e-8)])


def test_rate_too_high() -> None:
    found(RateTooHigh, seen(probes=FAILS_LEARNS_SMALLER, optimizer=ADAM), "0.001", "0.0001", "10 times", "lr=0.0001")
    by_name = OptimizerFacts(kind="Adam", by_name=True, site=HERE)
    keras = seen(framework="tf_keras", probes=FAILS_LEARNS_SMALLER, optimizer=by_name)
    found(RateTooHigh, keras, 'the string "adam"', "learning_rate=0.0001")
    diverging = probes(curve(1.0, 2.3, float("nan")), curve(0.1, 2.3, 0.4))
    found(RateTooHigh, seen(probes=diverging, optimizer=ADAM, trainer="Trainer"), "TrainingArguments(..., learning_rate=0.1)")


@pytest.mark.parametrize(("overfit", "rate", "told"), [
    (curve(1e-7, 1.1, 1.09), 1e-5, True), (curve(1e-7, 1.1, 0.1), 1e-5, False), (None, 1e-5, False),
    (curve(1e-7, 1.1, 1.09), 5e-6, False)])  # fifty times more may be what a schedule goes on to
def test_a_warm_up_to_a_rate_that_is_far_too_low(overfit: CurveFacts | None, rate: float, *, told: bool) -> None:
    tried = probes(curve(1e-7, 1.1, 1.09), curve(rate, 1.1, 0.1))
    tried.overfit = overfit
    warming = seen(probes=tried, model=SLOW, optimizer=OptimizerFacts(scheduled=True))
    for number, step in enumerate(warming.steps):
        step.learning_rate = 1e-7 * number / len(warming.steps)
    assert hasattr(verdict(RateTooLow, warming), "remedy") is told


@pytest.mark.parametrize("facts", [
    {"probes": LEARNS}, {"probes": NEVER_LEARNS}, {"probes": FAILS_LEARNS_LARGER}, {},
    {"probes": FAILS_LEARNS_SMALLER, "models_stepped": 2},
    {"probes": probes(curve(0.1, 2.3, 1.0), curve(0.01, 2.3, 0.2))},  # SGD at 0.1: the smaller rate is better, but it learns
    {"probes": probes(curve(1e-3, 1.1, 1.1), curve(1e-4, 1.1, 0.2), overfit=curve(1e-3, 1.1, 0.1), overfit_scaled=[curve(1e-4, 1.1, 0.5)])},
])
def test_rate_not_too_high(facts: dict[str, object]) -> None:
    assert not hasattr(verdict(RateTooHigh, seen(**facts)), "remedy")


def test_a_loss_that_comes_back_from_an_overshoot() -> None:
    thrown = [1.0, 0.5, 0.2, 0.05, 0.04, 0.05, *[0.06 * 1.3 ** n for n in range(30)]]
    falling = [thrown[-1] * 0.7 ** n for n in range(1, 10)]
    for losses, waits in ((thrown + falling, True), (thrown, False), ([loss + 0.3 for loss in thrown] + falling, False)):
        own = CurveFacts(learning_rate=0.05, losses=losses)
        observed = seen(probes=probes(own, curve(0.001, 1.0, 0.1)), optimizer=ADAM, steps=steps(len(losses)))
        assert ("on its way down again" in str(verdict(RateTooHigh, observed))) is waits


def test_rate_of_a_script_that_learns() -> None:
    falling = [step for n, step in enumerate(steps(40)) if not setattr(step, "loss", 1.1 - n / 50)]
    assert verdict(RateTooHigh, seen(probes=FAILS_LEARNS_SMALLER, steps=falling)) is None
    assert verdict(RateTooLow, seen(probes=FAILS_LEARNS_LARGER, steps=falling, model=SLOW)) is None


def test_rate_too_low() -> None:
    found(RateTooLow, seen(probes=FAILS_LEARNS_LARGER, model=SLOW, optimizer=ADAM), "1e-07", "1e-05", "1e-08 of its size")
    found(RateTooLow, seen(probes=FAILS_LEARNS_LARGER, optimizer=ADAM), "too low")


@pytest.mark.parametrize("facts", [
    {"probes": LEARNS}, {"probes": NEVER_LEARNS}, {"probes": FAILS_LEARNS_SMALLER}, {},
    {"probes": FAILS_LEARNS_LARGER, "model": model()},  # steps of a thousandth: merely slow
    {"probes": FAILS_LEARNS_LARGER, "model": SLOW, "optimizer": OptimizerFacts(scheduled=True)},  # a warm-up
    {"probes": probes(curve(1e-5, 1.1, 1.04), curve(1e-3, 1.1, 0.1)), "model": SLOW},
    {"probes": probes(curve(1e-5, 1.1, 1.09), curve(1e-4, 1.1, 0.1), curve(1e-3, 1.1, 0.1))},
])
def test_rate_not_too_low(facts: dict[str, object]) -> None:
    assert not hasattr(verdict(RateTooLow, seen(**facts)), "remedy")


def test_gradients_not_zeroed() -> None:
    left = [*steps(1), *[step for n, step in enumerate(steps(6)[1:], 1) if not setattr(step, "gradients_before", float(n))]]
    for n, step in enumerate(left, 1):
        step.gradient_norm = float(n)
    found(GradientsNotZeroed, seen(steps=left, model=model()), "step 2", "norm 1", "all 5 steps", "zero_grad()")
    assert isinstance(verdict(GradientsNotZeroed, seen(steps=left, models_stepped=2)), str)
    body = model(parameters=[parameter("body.weight", in_optimizer=False), parameter("head.weight")])
    left[3].gradients_before = 2.5
    assert isinstance(verdict(GradientsNotZeroed, seen(steps=left, model=body)), str)


def test_gradients_zeroed() -> None:
    assert verdict(GradientsNotZeroed, seen(steps=steps(6), model=model())) is None
    assert verdict(GradientsNotZeroed, seen(steps=steps(6, backwards=4), model=model())) is None
    now_and_then = steps(6)
    now_and_then[2].gradients_before = 0.9
    assert verdict(GradientsNotZeroed, seen(steps=now_and_then, model=model())) is None
    assert isinstance(verdict(GradientsNotZeroed, seen(steps=steps(2), model=model())), str)
    assert verdict(GradientsNotZeroed, seen(framework="keras", steps=steps(6, gradients_before=1.0))) is None


def test_gradients_wiped_before_the_step() -> None:
    still = model(parameters=[parameter("head.weight", moved=False)])
    found(GradientsNotZeroed, seen(steps=steps(5, gradient_norm=0.0), model=still), "between backward() and step()")
    assert verdict(GradientsNotZeroed, seen(steps=steps(5, gradient_norm=0.0), model=model())) is None
    assert verdict(GradientsNotZeroed, seen(steps=steps(5, gradient_norm=math.nan), model=still)) is None
    decays = OptimizerFacts(kind="AdamW", weight_decay=0.01)  # which moves weights without any gradient
    found(GradientsNotZeroed, seen(steps=steps(5, gradient_norm=0.0), model=model(), optimizer=decays), "between backward() and step()")


def test_no_step() -> None:
    still = model(parameters=[parameter("head.weight", moved=False)])
    found(NoStep, seen(backward_without_step=20, model=still, optimizer=ADAM, stopped="finished"), "20 backward passes", "optimizer.step()")
    for healthy in (seen(steps=steps(3), backward_without_step=3), seen(backward_without_step=20, model=model(), optimizer=ADAM)):
        assert verdict(NoStep, healthy) is None
    under_way = seen(backward_without_step=120, model=still, optimizer=ADAM, stopped="time", sites={"step": HERE})
    assert verdict(NoStep, under_way) is None
    unsure = {"backward_without_step": 20, "stopped": "enough steps", "optimizer": ADAM, "model": still}
    assert isinstance(verdict(NoStep, seen(**unsure)), str)
    assert isinstance(verdict(NoStep, seen(backward_without_step=9, stopped="finished")), str)
    assert isinstance(verdict(NoStep, died("oom", backward_without_step=9, optimizer=ADAM)), str)


def test_other_weights() -> None:
    strangers = [parameter(name, in_optimizer=False, moved=False, update_ratio=0.0) for name in ("body.weight", "head.weight")]
    other = OptimizerFacts(kind="Adam", held=0, foreign=2, site=HERE)
    found(OtherWeights, seen(model=model(parameters=strangers), optimizer=other, steps=steps(5)), "none of the 2", "No weight moved")
    stale = OptimizerFacts(kind="Adam", held=1, foreign=2, site=HERE)
    replaced = model(parameters=[parameter("body.weight"), strangers[1]], pretrained=True)
    found(OtherWeights, seen(model=replaced, optimizer=stale, steps=steps(5)), "1 of 2", "head.weight")


@pytest.mark.parametrize(("optimizer", "parameters"), [
    (ADAM, [parameter("body.weight"), parameter("head.weight")]),
    (OptimizerFacts(held=2, foreign=1), [parameter("body.weight"), parameter("head.weight")]),  # a temperature of the loss
    (OptimizerFacts(held=1, foreign=0), [parameter("body.weight", in_optimizer=False, moved=False), parameter("head.weight")]),
    (OptimizerFacts(held=0, foreign=2), [parameter("body.weight", in_optimizer=False), parameter("head.weight", in_optimizer=False)]),
])
def test_own_weights(optimizer: OptimizerFacts, parameters: list[object]) -> None:
    assert verdict(OtherWeights, seen(model=model(parameters=parameters), optimizer=optimizer, steps=steps(5))) is None


def test_rate_used_up_by_its_schedule() -> None:
    falling = steps(40)
    for number, step in enumerate(falling):
        step.learning_rate, step.loss = 0.1 * 0.5 ** number, 1.0
    stuck = probes(curve(0.1, 1.0, 0.98), overfit=curve(0.1, 1.0, 0.01))
    found(RateTooLow, seen(steps=falling, model=model(), probes=stuck, optimizer=ADAM), "schedule", "once per epoch")
    for step in falling:
        step.learning_rate = 0.1
    assert "not probed" in str(verdict(RateTooLow, seen(steps=falling, model=model(), probes=stuck)))


@pytest.mark.parametrize(("planned", "zeros", "wrong"), [(600, 10, True), (60, 10, False), (600, 2, False), (None, 10, False)])
def test_a_rate_that_is_used_up_long_before_the_last_step(planned: int | None, zeros: int, *, wrong: bool) -> None:
    taken = steps(60)
    for number, step in enumerate(taken):
        step.learning_rate = 0.1 * max(0.0, 1 - number / (60 - zeros))
    observed = seen(steps=taken, model=model(), optimizer=OptimizerFacts(kind="AdamW", site=HERE, training_steps=planned))
    if wrong:
        found(RateTooLow, observed, "from step 51 of 600")
    else:
        assert not hasattr(verdict(RateTooLow, observed), "remedy")


@pytest.mark.parametrize(("made", "line", "remedy"), [
    ("ExponentialLR(optimizer, 0.9)", 9, "once per epoch"), ("CosineAnnealingLR(optimizer, 50)", 5, "length in optimizer steps")])
def test_what_a_schedule_without_a_length_is_told(made: str, line: int, remedy: str) -> None:
    taken = steps(60)
    for number, step in enumerate(taken):
        step.learning_rate = 0.1 * max(0.0, 1 - number / 50)
    observed = seen(steps=taken, model=model(), optimizer=OptimizerFacts(kind="AdamW", site=HERE, training_steps=600))
    observed.sites |= {"schedule_made": Site("t.py", 5, made), "schedule": Site("t.py", 9, "scheduler.step()")}
    told = found(RateTooLow, observed, "from step 51 of 600", remedy)
    assert told.site is not None
    assert told.site.line == line


@pytest.mark.parametrize(("end", "wrong"), [(0.0, True), (1e-9, False)])
def test_a_loop_that_goes_on_at_a_rate_of_nothing(end: float, *, wrong: bool) -> None:
    taken = steps(24, loss=0.9)
    for number, step in enumerate(taken):
        step.learning_rate = max(end, 0.1 * (1 - number / 10))
    observed = seen(steps=taken, model=model(), optimizer=ADAM)
    if wrong:
        found(RateTooLow, observed, "from step 11 on")
    else:
        assert not hasattr(verdict(RateTooLow, observed), "remedy")


def test_the_rate_of_a_trainer_stands_in_its_arguments() -> None:
    arguments = Site(file="train.py", line=20, source="arguments = TrainingArguments(")
    inside, own = Site(file="train.py", line=40, source="trainer.train()"), Site(file="train.py", line=25, source="opt = AdamW(...)")
    seen = Observation(trainer="Trainer", sites={"training_arguments": arguments, "optimizer": inside})
    assert _rate_site(seen) == arguments
    seen.sites["optimizer"] = own
    assert _rate_site(seen) == own
    assert _rate_site(Observation(sites={"compile": inside})) == inside


@pytest.mark.parametrize(("change", "name"), [
    ({}, "found"), ({"schedule_steps": 55}, "stepped with the optimizer"), ({"climb": 4}, "a warm-up of some epochs"),
    ({"climb": None}, "not held down")])
def test_a_schedule_that_holds_the_rate_down(change: dict[str, object], name: str) -> None:
    optimizer = OptimizerFacts(kind="Adam", learning_rate=1e-6, site=HERE, **{
        "asked_rate": 1e-3, "taken": 60, "schedule_steps": 0, "climb": 499, **change})
    observed = seen(optimizer=optimizer, steps=steps(60, learning_rate=1e-6), model=model(displacement=1e-4),
                    probes=probes(curve(1e-3, 1.1, 1.09), overfit=curve(1e-3, 1.1, 0.01)))
    if name == "found":
        found(RateTooLow, observed, "1e-06", "1000 times", "stepped 0 times in 60 steps", "499")
    else:
        assert not isinstance(verdict(RateTooLow, observed), Finding)


@pytest.mark.parametrize(("planned", "name"), [(600, "found"), (6000, "a warm-up of some epochs")])
def test_a_warm_up_that_is_longer_than_the_epochs_by_which_it_is_stepped(planned: int, name: str) -> None:
    optimizer = OptimizerFacts(kind="Adam", learning_rate=0.0, site=HERE, asked_rate=1e-3, taken=100, schedule_steps=1, climb=24,
                               training_steps=planned)
    observed = seen(optimizer=optimizer, steps=steps(60, learning_rate=0.0), model=model(displacement=1e-4),
                    probes=probes(curve(1e-3, 1.1, 1.09), overfit=curve(1e-3, 1.1, 0.01)))
    if name == "found":
        found(RateTooLow, observed, "at 0,", "stepped once in 100 steps", "24")
    else:
        assert not isinstance(verdict(RateTooLow, observed), Finding)


@pytest.mark.parametrize("text", [
    "Unknown variable: <Variable path=dense_3/kernel>. This optimizer can only be called for the variables it was originally built with.",
    "'The optimizer cannot recognize variable dense_2/kernel:0. This usually means you are trying to update parts of the model apart.'"])
def test_a_keras_optimizer_that_meets_another_model(text: str) -> None:
    error = ExceptionFacts(type="ValueError", message=text, stage="step", site=HERE)
    finding = found(OtherWeights, died(error, framework="keras"), "of another model")
    assert finding.site == HERE


@pytest.mark.parametrize(("held", "norms", "wrong"), [(0, [1.0, 2.0, 3.0], True), (1, [1.0, 2.0, 3.0], False), (0, [1.0, 2.0], False),
                                                      (0, [1.0, 0.0, 3.0], False)])
def test_gradients_that_are_added_up_for_ever(held: int, norms: list[float], wrong: bool) -> None:
    buffers = BufferFacts(variables=4, held=held, norms=norms, site=HERE)
    observation = seen(framework="keras", steps=steps(6), model=model(), buffers=buffers)
    if wrong:
        found(GradientsNotZeroed, observation, "4 variables", "1, 2, 3", "gradient_accumulation_steps")
    else:
        assert verdict(GradientsNotZeroed, observation) is None


@pytest.mark.parametrize(("rate", "displacement", "wrong"), [(0.0, 0.0, True), (1e-3, 0.0, False), (0.0, 0.1, False)])
def test_a_rate_of_zero_all_along(rate: float, displacement: float, wrong: bool) -> None:
    stuck = steps(40)
    for step in stuck:
        step.learning_rate, step.loss = rate, 1.0
    facts = model()
    facts.displacement = displacement
    result = verdict(RateTooLow, seen(steps=stuck, model=facts, probes=probes(curve(rate, 1.0, 1.0)), optimizer=ADAM))
    assert (isinstance(result, Finding) and "is 0 at each" in result.message) is wrong


@pytest.mark.parametrize(("low", "last", "open_"), [(0.3, 1.2, True), (1.0, 1.2, False), (0.3, float("inf"), False)])
def test_a_loss_that_swings_leaves_the_rate_open(low: float, last: float, *, open_: bool) -> None:
    swinging = steps(60)
    for number, step in enumerate(swinging):
        step.loss = low if number % 3 == 1 else 1.3
    swinging[-1].loss = last
    assert RateTooHigh.may_change(seen(steps=swinging, probes=FAILS_LEARNS_SMALLER)) is open_
    assert not RateTooLow.may_change(seen(steps=swinging, probes=FAILS_LEARNS_SMALLER))
