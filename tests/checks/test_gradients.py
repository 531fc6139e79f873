"""The backward pass's checks."""

from __future__ import annotations

import math

import pytest

from harness.checks.evaluation_facts import EvaluationFacts
from harness.checks.gradient_flow import DeadUnits, ExplodingGradients, VanishingGradients
from harness.checks.gradients import FrozenWeights, GraphKeptAlive, KerasLossWithoutTarget, NoBackward
from harness.checks.graph_cut import GraphCut
from harness.checks.model_facts import BadBirth, OptimizerFacts, UnitFacts
from harness.checks.probe_facts import ProbeFacts
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import ExceptionFacts, LaterFacts, MemoryFacts
from tests.checks.facts import (
    ADAM,
    FAILS_LEARNS_SMALLER,
    HERE,
    LEARNS,
    MODEL,
    NEVER_LEARNS,
    batch,
    call,
    died,
    found,
    ids,
    model,
    parameter,
    recorded,
    seen,
    steps,
    tensor,
    verdict,
)

TF_BERT = model(kind="TFDistilBertForSequenceClassification", accepts=["input_ids", "labels"], num_labels=3, pretrained=True)
INSIDE = [batch(input_ids=ids(8, 20), labels=ids(8))]
PAIR = [batch(input_ids=ids(8, 20), y=ids(8))]


def test_keras_loss_without_target_raised() -> None:
    found(KerasLossWithoutTarget, died("tf_keras_nograd", model=TF_BERT, batches=INSIDE), "labels", "model.compile(optimizer=optimizer)")
    found(KerasLossWithoutTarget, died("tf_keras_none"), "fit()", "pairs")
    found(KerasLossWithoutTarget, died("keras_none", batches=INSIDE), "inside the input dict")
    assert verdict(KerasLossWithoutTarget, died("keras_none")) is None  # None may have come from anywhere
    error = recorded("keras_none")
    error.site = Site(file="train.py", line=9, source="model.fit(x)")
    found(KerasLossWithoutTarget, died(error), "no second part")
    assert verdict(KerasLossWithoutTarget, died("tf_keras_nograd", model=model())) is None
    found(GraphCut, died("tf_keras_nograd", model=model()))
    found(GraphCut, died("keras_stopgrad", model=model()))


def test_keras_loss_without_target_silent() -> None:
    by_name = call("sparse_categorical", from_logits=False, by_name=True)
    facts = {"framework": "tf_keras", "model": TF_BERT, "steps": steps(5, loss=4.0)}
    found(KerasLossWithoutTarget, seen(batches=INSIDE, loss_calls=[by_name], **facts), "by a string", "from -2 to 2", "4, 4")
    logits = call("sparse_categorical", from_logits=True)
    for batches, loss in ((PAIR, by_name), (INSIDE, logits), (INSIDE, call("model"))):
        assert verdict(KerasLossWithoutTarget, seen(batches=batches, loss_calls=[loss], **facts)) is None


@pytest.mark.parametrize("name", ["nograd", "detach", "argmax", "item", "intloss"])
def test_graph_cut_raised(name: str) -> None:
    assert found(GraphCut, died(name, model=model()), "no history", ".detach()").site == HERE


def test_graph_cut_other_exceptions() -> None:
    found(GraphCut, died("item2"), "plain Python number")
    after = died("nograd", steps=steps(9), evaluation=EvaluationFacts(forwards=4))
    found(GraphCut, after, "set_grad_enabled(False)")
    assert verdict(GraphCut, died("second")) is None


CUT = [parameter("body.weight", gradient_norm=None, moved=False), parameter("head.weight")]


def test_graph_cut_silent() -> None:
    found(GraphCut, seen(model=model(parameters=CUT), steps=steps(3), probes=ProbeFacts(unreached_matter=True)), "1 of 2", "body.weight")
    found(GraphCut, seen(model=model(parameters=CUT), steps=steps(3), sites={"cut": HERE}), "1 of 2", "body.weight")
    found(GraphCut, seen(model=model(parameters=CUT), steps=steps(3), framework="keras", probes=ProbeFacts(unreached_matter=True)),
          "stop_gradient", "layer.trainable = False")
    nothing = [parameter(name, gradient_norm=None, moved=False) for name in ("a.weight", "b.weight")]
    found(GraphCut, seen(model=model(parameters=nothing), steps=steps(3)), "none of 2")
    idle = LaterFacts(step=11, held=1, foreign=0, lacking=1, left=["body.weight"], site=HERE)
    found(GraphCut, seen(model=model(parameters=nothing), steps=steps(12), idle=idle), "none of 2")  # nothing else learns
    found(GraphCut, seen(model=model(parameters=CUT), steps=steps(12), idle=idle), "One of the optimizers")


@pytest.mark.parametrize("facts", [
    {"model": model()},
    {"model": model(parameters=[parameter("pooler.weight", gradient_norm=None, used=False), parameter("head.weight")])},
    {"model": model(parameters=[parameter("body.weight", gradient_norm=None, trainable=False), parameter("head.weight")])},
    {"model": model(parameters=[parameter("body.weight", gradient_norm=None, in_optimizer=False), parameter("head.weight")])},
    {"model": model(parameters=CUT, pretrained=True)},
    {"model": model(parameters=CUT), "probes": ProbeFacts(unreached_matter=False)},
    {"model": model(parameters=CUT)},
    {"model": model(parameters=CUT), "models_stepped": 2},
])
def test_graph_whole(facts: dict[str, object]) -> None:
    assert not hasattr(verdict(GraphCut, seen(steps=steps(3), **facts)), "remedy")


def test_frozen() -> None:
    frozen = [parameter(name, trainable=False, gradient_norm=None, moved=False) for name in ("body.weight", "head.weight", "head.bias")]
    found(FrozenWeights, died("allfrozen", model=model(parameters=frozen)), "All 3 weights", "requires_grad_(True)")
    found(FrozenWeights, died("frozen_opt"), "ModuleList")
    found(FrozenWeights, seen(model=model(unregistered=["layers[0].weight"]), optimizer=ADAM), "ModuleList", "layers[0].weight")
    head = [parameter("body.weight"), *frozen[1:]]
    assert found(FrozenWeights, seen(model=model(parameters=head), steps=steps(3)), "head.weight", "random").site == MODEL


@pytest.mark.parametrize("facts", [
    {"model": model()},
    {"model": model(parameters=[parameter("body.weight", trainable=False), parameter("head.weight")], pretrained=True, fresh_head=True)},
    {"model": model(parameters=[parameter("embed.weight", trainable=False), parameter("head.weight")])},
    {"model": model(unregistered=["temperature"]), "optimizer": OptimizerFacts(held=4, foreign=1)},
    {"model": model(parameters=[parameter("body.weight"), parameter("head.weight", trainable=False)], pretrained=True)},
])
def test_frozen_on_purpose(facts: dict[str, object]) -> None:
    assert verdict(FrozenWeights, seen(steps=steps(3), **facts)) is None


def test_no_backward() -> None:
    still = model(parameters=[parameter("head.weight", gradient_norm=None, moved=False)])
    lonely = steps(5, backwards=0, gradient_norm=None)
    found(NoBackward, seen(model=still, steps=lonely, forward_without_backward=5), "5 steps", "loss.backward()", "5 forward passes")
    assert verdict(NoBackward, seen(model=model(), steps=lonely)) is None  # gradients by autograd.grad, put in by hand
    assert verdict(NoBackward, seen(model=still, steps=steps(5))) is None
    assert verdict(NoBackward, seen(model=still, steps=[*steps(1), *lonely])) is None  # one loss, two optimizers
    assert verdict(NoBackward, seen(framework="keras", steps=lonely)) is None
    assert isinstance(verdict(NoBackward, seen(model=still)), str)


def test_graph_kept_alive() -> None:
    found(GraphKeptAlive, died("rnn_hidden", steps=steps(1)), "hidden.detach()")
    found(GraphKeptAlive, died("rnn_hidden_retain", steps=steps(1)), "optimizer has changed")
    found(GraphKeptAlive, died("total_loss_retain", steps=steps(1)))
    found(GraphKeptAlive, died("second"), "backward() once")
    assert verdict(GraphKeptAlive, died("inplace", steps=steps(1))) is None
    weight = ExceptionFacts(
        type="RuntimeError", message="one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [128, 1]] is at version 2; expected version 1 instead. Hint: ...", stage="backward",
        site=Site(file="/home/user/train.py", line=30, source="loss.backward(retain_graph=True)"))
    found(GraphKeptAlive, seen(steps=steps(1), exception=weight), "optimizer has changed")
    weight.site = Site(file="/home/user/train.py", line=30, source="loss.backward()")
    assert verdict(GraphKeptAlive, seen(steps=steps(1), exception=weight)) is None
    assert verdict(GraphKeptAlive, died("rnn_hidden_retain")) is None  # before any step, weights have not changed
    found(GraphKeptAlive, seen(memory=MemoryFacts(graph_grows=True, growth_per_step=3 * 2**20)), "loss.item()", "3.00 MiB")
    assert verdict(GraphKeptAlive, seen(memory=MemoryFacts(graph_grows=False, growth_per_step=1e6))) is None
    found(GraphKeptAlive, seen(steps=steps(40), memory=MemoryFacts(losses_kept=39)), "losses of 39 steps", "loss.item()")
    assert verdict(GraphKeptAlive, seen(steps=steps(40), memory=MemoryFacts(losses_kept=3))) is None
    assert verdict(GraphKeptAlive, seen(steps=steps(5), memory=MemoryFacts(losses_kept=5))) is None


def test_optimizer_without_weights() -> None:
    raised = {"exception": ExceptionFacts(type="ValueError", message="optimizer got an empty parameter list", site=HERE), "steps": []}
    listed = found(FrozenWeights, seen(**raised, model=model(parameters=[], unregistered=["Linear.weight (2, 2)"])), "ModuleList")
    assert "Linear.weight" in listed.evidence[1]
    found(FrozenWeights, seen(**raised, model=model()), "read only once")
    found(FrozenWeights, seen(**raised, model=model(parameters=[parameter("a.weight", trainable=False)])), "all 1 weights are frozen")
    found(FrozenWeights, seen(**raised), "no parameters")


def _stack(first: float, last: float) -> list[object]:
    return [parameter(f"layers.{n}.weight", gradient_norm=first * (last / first) ** (n / 7)) for n in range(8)]


def test_vanishing() -> None:
    fading = model(parameters=_stack(1e-9, 1.0))
    found(VanishingGradients, seen(model=fading, probes=NEVER_LEARNS), "layers.0.weight", "LayerNorm")
    assert verdict(VanishingGradients, seen(model=fading, probes=LEARNS)) is None
    assert verdict(VanishingGradients, seen(model=model(parameters=_stack(1e-2, 1.0)), probes=NEVER_LEARNS)) is None
    assert isinstance(verdict(VanishingGradients, seen(model=fading)), str)
    by_heart = ProbeFacts(train=NEVER_LEARNS.train, train_scaled=NEVER_LEARNS.train_scaled, overfit=LEARNS.train)
    assert "one batch can be fitted" in str(verdict(VanishingGradients, seen(model=fading, probes=by_heart)))
    ended = OptimizerFacts(used_up=(62, 496))
    assert "a schedule takes the rate away" in str(verdict(VanishingGradients, seen(model=fading, probes=NEVER_LEARNS, optimizer=ended)))
    adapters = [parameter("a.weight", gradient_norm=0.0), *_stack(0.1, 1.0)]  # low-rank adapters begin with no gradient at all
    assert verdict(VanishingGradients, seen(model=model(parameters=adapters), probes=NEVER_LEARNS)) is None


def test_exploding() -> None:
    wide = model(parameters=[parameter(f"layers.{n}.weight", update_ratio=40.0) for n in range(8)])
    found(ExplodingGradients, seen(model=wide, probes=NEVER_LEARNS), "40.0 times", "clip_grad_norm_")
    growing = [*steps(5), *steps(3, gradient_norm=1e6)]
    found(ExplodingGradients, seen(model=model(), steps=growing, probes=NEVER_LEARNS), "from 1 to 1e+06")
    assert verdict(ExplodingGradients, seen(model=wide, probes=LEARNS)) is None
    assert verdict(ExplodingGradients, seen(model=wide, probes=FAILS_LEARNS_SMALLER)) is None  # the rate's fault
    assert verdict(ExplodingGradients, seen(model=model(), steps=steps(9), probes=NEVER_LEARNS)) is None
    assert isinstance(verdict(ExplodingGradients, seen(model=wide)), str)
    leapt = [*steps(5), *steps(3, gradient_norm=math.nan)]
    assert verdict(ExplodingGradients, seen(model=model(), steps=leapt, probes=NEVER_LEARNS)) is None  # born so, not grown
    first = [BadBirth(step=1, what="activation", name="log")]
    assert verdict(ExplodingGradients, seen(model=wide, births=first, probes=NEVER_LEARNS)) is None


def test_dead_units() -> None:
    dead = model(units=[UnitFacts(module="act1", kind="relu", dead_share=0.99)])
    batches = [batch(x=tensor(32, 8))]
    found(DeadUnits, seen(model=dead, probes=NEVER_LEARNS, batches=batches), "99%", "act1")
    assert verdict(DeadUnits, seen(model=dead, probes=LEARNS, batches=batches)) is None
    assert verdict(DeadUnits, seen(model=dead, probes=FAILS_LEARNS_SMALLER, batches=batches)) is None
    half = model(units=[UnitFacts(module="act1", kind="relu", dead_share=0.5)])
    assert verdict(DeadUnits, seen(model=half, probes=NEVER_LEARNS, batches=batches)) is None
    assert isinstance(verdict(DeadUnits, seen(model=dead, probes=NEVER_LEARNS, batches=[batch(x=tensor(2, 8))])), str)
    assert isinstance(verdict(DeadUnits, seen(model=dead, batches=batches)), str)


@pytest.mark.parametrize(("lost_in", "learns", "wrong"), [("relu", False, True), ("layer_norm", False, False), ("relu", True, False)])
def test_units_that_silence_every_input(lost_in: str, learns: bool, wrong: bool) -> None:
    dead = model(units=[UnitFacts(module="act1", kind="relu", dead_share=1.0)])
    losses = steps(40)
    for number, step in enumerate(losses):
        step.loss = 1.0 - 0.02 * number if learns else 1.0
    probed = ProbeFacts(input_matters=False, lost_in=lost_in)
    result = verdict(DeadUnits, seen(model=dead, steps=losses, probes=probed, batches=[batch(x=tensor(32, 8))]))
    assert hasattr(result, "remedy") is wrong


def test_a_second_model_that_is_fitted_with_nothing_to_train() -> None:
    found(FrozenWeights, seen(framework="keras", frozen_later=HERE), "The second model", "layer.trainable = True")


def test_weights_that_were_thawed_after_compile() -> None:
    thawed = LaterFacts(step=1, held=2, foreign=0, lacking=6, left=["base.kernel"], site=HERE)
    found(FrozenWeights, seen(framework="keras", thawed=thawed), "6 weights", "the 2 that", "compile(...)` again", "base.kernel")
