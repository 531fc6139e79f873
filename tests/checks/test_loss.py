"""The loss's checks: targets, outputs, values."""

from __future__ import annotations

import math

import msgspec
import pytest

from harness.checks.data_facts import BatchFacts, SourceFacts
from harness.checks.label_values import LabelOutsideClasses
from harness.checks.loss_output import LogitsIntoProbabilityLoss, OutputFitsLoss, ProbabilitiesIntoLogitsLoss
from harness.checks.loss_targets import LabelDtype, TargetShape
from harness.checks.loss_value import DrownedTerm, InitialLoss, SumInsteadOfMean
from harness.checks.model_facts import BadBirth
from harness.checks.not_a_number import NotANumber
from harness.checks.probe_facts import ProbeFacts
from harness.checks.tensor_facts import Site, TensorFacts
from harness.checks.training_facts import ExceptionFacts
from tests.checks.facts import (
    FAILS_LEARNS_SMALLER,
    HERE,
    LEARNS,
    MODEL,
    NEVER_LEARNS,
    call,
    curve,
    died,
    found,
    ids,
    model,
    probes,
    seen,
    steps,
    tensor,
    verdict,
)

TWO = model(num_labels=2)


@pytest.mark.parametrize("name", ["ce_out", "nll_out", "ce_out_smooth", "tf_keras_out", "tf_keras_out_eager", "keras_out",
                                  "keras_out_prob"])
def test_label_outside_raised(name: str) -> None:
    finding = found(LabelOutsideClasses, died(name, model=TWO), "Label 2", "0 to 1", "num_labels=3")
    assert finding.site == MODEL


def test_label_outside_other_exceptions() -> None:
    assert found(LabelOutsideClasses, died("ce_minus1"), "ignore_index").site == HERE
    found(LabelOutsideClasses, died("onehot", model=model(final_units=2)), "last layer")
    labels = steps(1, labels=[0, 1, 2, 0])
    found(LabelOutsideClasses, died("gather_own", steps=labels, model=TWO))
    assert isinstance(verdict(LabelOutsideClasses, died("gather_own")), str)  # an index by itself may be anything
    assert not hasattr(verdict(LabelOutsideClasses, died("gather_own", model=model(num_labels=7), steps=labels)), "remedy")


def test_label_outside_on_an_asynchronous_device() -> None:
    error = ExceptionFacts(type="AcceleratorError", message="CUDA error: device-side assert triggered", stage="step", site=HERE)
    rerun = {"type": "IndexError", "message": "Target 2 is out of bounds.", "site": {"file": "train.py", "line": 21}, "stage": "loss"}
    error.cpu_rerun = rerun
    found(LabelOutsideClasses, died(error, model=TWO), "not to be believed", "line 30", "line 21", "Target 2 is out of bounds")
    error.cpu_rerun = None
    finding = found(LabelOutsideClasses, died(error, model=TWO, steps=steps(1, labels=[0, 1, 2])), "not to be believed")
    assert finding.site == MODEL
    assert isinstance(verdict(LabelOutsideClasses, died(error, model=TWO, steps=steps(1, labels=[0, 1]))), str)
    found(LabelOutsideClasses, died("lazy", model=TWO), "not to be believed", "Label 2")


@pytest.mark.parametrize(("framework", "advice"), [("torch", "ignore_index=-100"), ("tf_keras", "ignore_class=-100")])
def test_labels_that_are_to_be_left_out(framework: str, advice: str) -> None:
    raised = ExceptionFacts(type="ValueError", message="Received a label value of -100 which is outside the valid range of [0, 4).",
                            stage="loss")
    made = Site(file="train.py", line=5, source="labels[labels == pad] = -100", function="encode")
    compiled = Site(file="train.py", line=30, source="model.compile(...)", function="<module>")
    observed = seen(framework=framework, exception=raised, sites={"compile": compiled},
                    sources={"labels": [SourceFacts(site=made, kind="made")]})
    finding = found(LabelOutsideClasses, observed, advice)
    assert finding.site == compiled


def test_label_outside_silent() -> None:
    nan = call("sparse_categorical", inputs=tensor(4, 2), row_losses=[0.7, math.nan, 0.6, math.nan], row_labels=[0, 2, 1, 2])
    found(LabelOutsideClasses, seen(framework="tf_keras", loss_calls=[nan]), "NaN", "2 x 2", "at least 3")
    own = call("model", inputs=None, target=None)
    found(LabelOutsideClasses, seen(framework="tf_keras", loss_calls=[own], model=TWO, steps=steps(1, labels=[0, 2, 1])), "num_labels=3")
    one_based = call(inputs=tensor(9, 3), row_labels=[1, 2, 3, 1, 2, 3, 1, 2, 3])
    found(LabelOutsideClasses, seen(loss_calls=[one_based]), "labels - 1")


def test_targets_that_are_no_shares() -> None:
    scaled = call("bce", inputs=tensor(16, 32, minimum=0.1, maximum=0.9), target=tensor(16, 32, minimum=-0.5, maximum=2.3), value=-0.4)
    found(LabelOutsideClasses, seen(framework="keras", loss_calls=[scaled]), "between -0.5 and 2.3", "below zero, to -0.4")
    soft = call("bce", inputs=tensor(16, 32, minimum=0.1, maximum=0.9), target=tensor(16, 32, minimum=-0.001, maximum=1.001))
    assert verdict(LabelOutsideClasses, seen(framework="keras", loss_calls=[soft])) is None


def test_each_head_has_labels_of_its_own() -> None:
    intents, slots = call(inputs=tensor(32, 5), row_labels=[1, 2, 4]), call(inputs=tensor(300, 7), row_labels=[-100, 6, 5, 0])
    assert verdict(LabelOutsideClasses, seen(loss_calls=[intents, slots])) is None
    slots.row_labels.append(7)
    found(LabelOutsideClasses, seen(loss_calls=[intents, slots]), "Label 7 (1 of the 5 rows", "7 classes (0 to 6)")


@pytest.mark.parametrize("healthy", [
    call(row_labels=[0, 1, 2, -100]),
    call(row_labels=[0, 1, 255], ignore_index=255),
    call("mse", inputs=tensor(8, 1), target=ids(8, 1, top=50)),
    call(inputs=tensor(8, 3, 64, 64), target=ids(8, 64, 64)),
    call("bce_with_logits", target=tensor(8, 3, minimum=0.0, maximum=1.0)),
])
def test_label_inside(healthy: object) -> None:
    assert verdict(LabelOutsideClasses, seen(loss_calls=[healthy])) is None


@pytest.mark.parametrize(("name", "words"), [
    ("ce_float", "long()"), ("ce_int32", "long()"), ("ce_bool", "long()"), ("ce_str", "torch.tensor"), ("bce_long", "float()"),
    ("bcep_long", "float()"), ("bcep_double", "float()"), ("ce_onehot_long", "argmax"), ("tf_keras_str_labels", "class ids"),
    ("keras_str_labels", "class ids")])
def test_label_dtype(name: str, words: str) -> None:
    found(LabelDtype, died(name), words)


def test_label_dtype_is_no_matter_of_other_layers() -> None:
    error = ExceptionFacts(type="RuntimeError", message="expected scalar type Long but found Float", stage="forward",
                           frames=[("/lib/torch/nn/functional.py", 1, "embedding")])
    assert verdict(LabelDtype, died(error)) is None


@pytest.mark.parametrize(("name", "whole", "wrong"), [
    ("sparse_categorical", False, True), ("sparse_categorical", True, False), ("mse", False, False), ("bce", False, False)])
def test_fractions_that_become_class_ids(name: str, whole: bool, wrong: bool) -> None:
    fractions = tensor(8, minimum=0.1, maximum=0.9, integral=whole)
    observation = seen(framework="keras", loss_calls=[call(name, target=fractions)], steps=steps(40))
    if wrong:
        found(LabelDtype, observation, "class 0", "np.digitize")
    else:
        assert verdict(LabelDtype, observation) is None


@pytest.mark.parametrize(("name", "words"), [
    ("ce_n1", "squeeze"), ("ce_lm", "transpose"), ("ce_batch", "number of rows"), ("bce_shape", "same shape"), ("bcep_shape", "same shape"),
    ("mse_shape", "same shape"), ("tf_keras_cat_int", "sparse"), ("keras_cat_int", "sparse"), ("tf_keras_sparse_onehot", "one-hot"),
    ("keras_sparse_onehot", "one-hot"), ("tf_keras_bin_3", "same shape"), ("keras_mse", "same shape")])
def test_target_shape_raised(name: str, words: str) -> None:
    found(TargetShape, died(name), words)


def test_target_shape_broadcast() -> None:
    grown = call("mse", inputs=tensor(32, 1), target=tensor(32))
    found(TargetShape, seen(loss_calls=[grown]), "(32, 1)", "(32, 32)", "1024 pairs", "target.unsqueeze(1)")
    found(TargetShape, seen(loss_calls=[call("l1", inputs=tensor(32), target=tensor(32, 1))]), "output.squeeze(-1)")


@pytest.mark.parametrize(("framework", "inputs", "target"), [
    ("torch", (32, 1), (32, 1)), ("torch", (32, 1), (1,)), ("torch", (32, 1), ()), ("torch", (1, 1), (1,)), ("torch", (32, 5), (32, 1)),
    ("keras", (32, 1), (32,)), ("tf_keras", (32, 1), (32,))])
def test_target_shape_healthy(framework: str, inputs: tuple[int, ...], target: tuple[int, ...]) -> None:
    assert verdict(TargetShape, seen(framework=framework, loss_calls=[call("mse", inputs=tensor(*inputs), target=tensor(*target))])) is None


def test_target_shape_leaves_metrics_alone() -> None:
    for name in ("tf_keras_metric", "keras_metric"):
        assert not hasattr(verdict(TargetShape, died(name)), "remedy")


PROBABILITIES = tensor(8, 3, minimum=0.01, maximum=0.9, rows_sum_to_one=True)


def test_probabilities_into_logits_loss() -> None:
    found(ProbabilitiesIntoLogitsLoss, seen(loss_calls=[call(inputs=PROBABILITIES)] * 3), "softmax", "rows sum to 1", "all 3 loss calls")
    along_rows = call(inputs=tensor(8, 3, minimum=0.01, maximum=0.9, batch_sums_to_one=True))
    found(ProbabilitiesIntoLogitsLoss, seen(loss_calls=[along_rows]), "softmax")
    keras = call("sparse_categorical", inputs=PROBABILITIES, from_logits=True)
    found(ProbabilitiesIntoLogitsLoss, seen(framework="keras", loss_calls=[keras]), "from_logits=False")
    weighed = call(inputs=PROBABILITIES, softmaxed_in_model=False)  # a softmax, and a sum over one-hot rows after it
    found(ProbabilitiesIntoLogitsLoss, seen(loss_calls=[weighed] * 4), "softmax", "rows sum to 1")
    assert verdict(ProbabilitiesIntoLogitsLoss, seen(loss_calls=[*[weighed] * 3, call(softmaxed_in_model=False)])) is None
    squashed = call("bce_with_logits", inputs=tensor(8, 1, minimum=0.2, maximum=0.8), softmaxed_in_model=True)
    found(ProbabilitiesIntoLogitsLoss, seen(loss_calls=[squashed]), "sigmoid")


@pytest.mark.parametrize("healthy", [
    call(), call(inputs=tensor(8, 3, minimum=-3.0, maximum=-0.1, log_probabilities=True)),
    call("nll", inputs=tensor(8, 3, log_probabilities=True)), call("sparse_categorical", inputs=PROBABILITIES, from_logits=False),
    call("bce", inputs=tensor(8, 1, minimum=0.1, maximum=0.9)), call("kl", inputs=PROBABILITIES),
])
def test_logits_are_fine(healthy: object) -> None:
    assert verdict(ProbabilitiesIntoLogitsLoss, seen(loss_calls=[healthy])) is None


def test_small_logits_are_not_taken_for_probabilities() -> None:
    small = call("bce_with_logits", inputs=tensor(8, 1, minimum=0.2, maximum=0.8))
    assert isinstance(verdict(ProbabilitiesIntoLogitsLoss, seen(loss_calls=[small])), str)
    assert verdict(ProbabilitiesIntoLogitsLoss, seen(loss_calls=[call(inputs=PROBABILITIES), call()])) is None


def test_logits_into_probability_loss() -> None:
    by_name = call("sparse_categorical", from_logits=False, by_name=True)
    found(LogitsIntoProbabilityLoss, seen(framework="keras", loss_calls=[by_name]), "from_logits=True", "string", "-2")
    found(LogitsIntoProbabilityLoss, died("bcep_range"), "BCEWithLogitsLoss")
    found(LogitsIntoProbabilityLoss, seen(loss_calls=[call("nll")]), "raw logits", "log_softmax")
    found(LogitsIntoProbabilityLoss, seen(loss_calls=[call("nll", inputs=PROBABILITIES)]), "gets probabilities")
    found(LogitsIntoProbabilityLoss, seen(loss_calls=[call("kl", inputs=PROBABILITIES)]), "KLDivLoss")
    found(LogitsIntoProbabilityLoss, seen(loss_calls=[call("kl", target=PROBABILITIES)]), "KLDivLoss", "raw logits", "log_softmax")
    logs = tensor(8, 3, minimum=-4.0, maximum=-0.1, log_probabilities=True)
    soft = call("kl", inputs=logs, target=PROBABILITIES, log_target=True)
    found(LogitsIntoProbabilityLoss, seen(loss_calls=[soft] * 2), "log_target=True", "gets probabilities")
    found(LogitsIntoProbabilityLoss, seen(loss_calls=[call("kl", inputs=logs, target=logs, log_target=False)]), "not a number")
    for right in (call("kl", inputs=logs, target=logs, log_target=True), call("kl", inputs=logs, target=PROBABILITIES, log_target=False)):
        assert verdict(LogitsIntoProbabilityLoss, seen(loss_calls=[right] * 2)) is None
    along_rows = call("nll", inputs=tensor(8, 3, minimum=-4.0, maximum=-0.1, batch_sums_to_one=True))
    found(LogitsIntoProbabilityLoss, seen(loss_calls=[along_rows] * 2), "wrong axis", "dim=1")


@pytest.mark.parametrize(("framework", "healthy"), [
    ("torch", call()), ("torch", call("nll", inputs=tensor(8, 3, minimum=-4.0, maximum=-0.1, log_probabilities=True))),
    ("torch", call("nll", inputs=tensor(8, 3, 9, 9, minimum=-4.0, maximum=-0.1), target=ids(8, 9, 9))),
    ("keras", call("sparse_categorical", inputs=PROBABILITIES, from_logits=False)), ("keras", call("sparse_categorical", from_logits=True)),
    ("torch", call("kl", inputs=tensor(8, 3, minimum=-4.0, maximum=-0.1, log_probabilities=True), target=PROBABILITIES)),
    ("torch", call("kl", target=tensor(8, 3, minimum=-4.0, maximum=-0.1, log_probabilities=True))),
    ("keras", call("kl", inputs=PROBABILITIES)), ("tf_keras", call("model")), ("torch", call("bce", inputs=PROBABILITIES)),
])
def test_probabilities_are_fine(framework: str, healthy: object) -> None:
    assert verdict(LogitsIntoProbabilityLoss, seen(framework=framework, loss_calls=[healthy])) is None


def test_output_does_not_fit() -> None:
    found(OutputFitsLoss, died("ce_1unit", model=model(final_units=1)), "one unit", "BCEWithLogitsLoss")
    found(OutputFitsLoss, seen(loss_calls=[call(inputs=tensor(8, 1), value=0.0)]), "one unit")
    softmax = model(final_units=1, final_activation="softmax")
    ones = call("bce", inputs=tensor(8, 1, minimum=1.0, maximum=1.0))
    found(OutputFitsLoss, seen(framework="keras", model=softmax, loss_calls=[ones]), "sigmoid")
    relu = call(inputs=tensor(8, 3, minimum=0.0, maximum=2.0))
    found(OutputFitsLoss, seen(model=model(final_activation="relu"), loss_calls=[relu]), "ReLU")
    sigmoids = call("sparse_categorical", inputs=tensor(8, 3, minimum=0.3, maximum=0.7), from_logits=False)
    found(OutputFitsLoss, seen(framework="keras", model=model(final_activation="sigmoid", final_units=3), loss_calls=[sigmoids]), "softmax")
    bounded = call("mse", inputs=tensor(8, 1, minimum=0.1, maximum=0.9), target=tensor(8, 1, minimum=5.0, maximum=80.0))
    found(OutputFitsLoss, seen(model=model(final_activation="sigmoid"), loss_calls=[bounded]), "[0, 1]", "80")


@pytest.mark.parametrize(("activation", "healthy"), [
    (None, call()), ("relu", call("mse", inputs=tensor(8, 1, minimum=0.0), target=tensor(8, 1, minimum=0.0, maximum=9.0))),
    ("sigmoid", call("bce", inputs=tensor(8, 5, minimum=0.1, maximum=0.9), target=tensor(8, 5, minimum=0.0, maximum=1.0))),
    ("tanh", call("mse", inputs=tensor(8, 9, minimum=-0.9, maximum=0.9), target=tensor(8, 9, minimum=-1.0, maximum=1.0))),
    ("relu", call(inputs=tensor(8, 3, minimum=-1.0))), ("softmax", call("sparse_categorical", inputs=PROBABILITIES, from_logits=False)),
])
def test_output_fits(activation: str | None, healthy: object) -> None:
    assert verdict(OutputFitsLoss, seen(model=model(final_activation=activation), loss_calls=[healthy])) is None


def test_initial_loss() -> None:
    never = probes(curve(1e-2, 9.0, 8.7), curve(1e-3, 9.0, 8.9), initial_loss=9.0, initial_rows=64)
    found(InitialLoss, seen(loss_calls=[call()], model=model(), probes=never), "ln 3 = 1.1", "64 rows")


@pytest.mark.parametrize(("mean", "shape", "losses", "wrong"), [
    (0.12, (64, 5), 1.4, True), (0.2, (64, 5), 1.4, False), (0.12, (64, 5), 0.1, False), (0.12, (8, 16, 5), 1.4, False)])
def test_one_hot_rows_of_zeros(mean: float, shape: tuple[int, ...], losses: float, wrong: bool) -> None:
    target = TensorFacts(shape=shape, dtype="float32", minimum=0.0, maximum=1.0, mean=mean, integral=True)
    taken = [step for n in range(40) for step in steps(1, loss=1.5 + (losses - 1.5) * n / 39)]
    observation = seen(framework="keras", steps=taken, loss_calls=[call("categorical", target=target, step=n) for n in range(4)])
    if wrong:
        found(LabelOutsideClasses, observation, "40 %", "5 (0 to 4)", "tf.one_hot(labels - 1, 5)")
    else:
        assert not hasattr(verdict(LabelOutsideClasses, observation), "remedy")


@pytest.mark.parametrize(("end", "wrong"), [(2.0, True), (0.7, False)])
def test_a_wide_start_that_costs_all_watched_steps(end: float, wrong: bool) -> None:
    """A loss that falls clearly, and after all these steps has not come down to what a guess would have cost at first."""
    falling = [step for n in range(40) for step in steps(1, loss=9.0 + (end - 9.0) * min(1.0, n / 30))]
    start = ProbeFacts(initial_loss=9.0, initial_rows=64)
    observation = seen(task="language", loss_calls=[call(value=9.0)], model=model(), probes=start, steps=falling)
    if wrong:
        found(InitialLoss, observation, "ln 3 = 1.1")
    else:
        assert verdict(InitialLoss, observation) is None


@pytest.mark.parametrize(("first", "end", "largest", "rows", "wrong"), [
    (1e6, 500.0, 2.0, [], True), (1e6, 0.3, 2.0, [], False), (100.0, 50.0, 2.0, [], False), (1e6, 500.0, 900.0, [], False),
    (1e6, 500.0, 2.0, [0.3], False)])
def test_squared_errors_that_begin_far_out(first: float, end: float, largest: float, rows: list[float], *, wrong: bool) -> None:
    """Weights drawn too wide for the layers; not inputs of a large scale, not what is unlearnt at once, and no sum over numbers."""
    wanted = tensor(8, 9, dtype="float32", minimum=0.0, maximum=1.0, mean=0.3, std=0.4)
    given = BatchFacts(columns={"x": tensor(8, 9, dtype="float32", minimum=-1.0, maximum=largest)})
    observation = seen(task="regression", loss_calls=[call("mse", target=wanted, row_losses=rows, reduction="sum" if rows else "mean")],
                       model=model(), probes=ProbeFacts(initial_loss=first),
                       steps=steps(20, loss=first) + steps(20, loss=end), batches=[given])
    if wrong:
        found(InitialLoss, observation, "squared error is 1e+06", "costs 0.25")
    else:
        assert not hasattr(verdict(InitialLoss, observation), "remedy")


@pytest.mark.parametrize("facts", [
    {"probes": ProbeFacts(initial_loss=1.3)}, {"probes": ProbeFacts(initial_loss=3.2)}, {"model": model(pretrained=True)},
    {"loss_calls": [call(weighted=True)]}, {"loss_calls": [call(smoothing=0.1)]}, {"task": "language"}, {"loss_calls": [call("mse")]},
    {"probes": probes(curve(1e-2, 9.0, 0.1), curve(1e-3, 9.0, 5.0), initial_loss=9.0)}, {"loss_terms": [{"name": "a"}, {"name": "b"}]},
    {"loss_calls": [call(step=1), call(step=1)]}, {"loss_calls": [call(step=1, value=2.0)], "steps": steps(9, loss=9.0)},
])
def test_initial_loss_explained(facts: dict[str, object]) -> None:
    healthy = {"loss_calls": [call()], "model": model(), "probes": ProbeFacts(initial_loss=9.0), **facts}
    assert not hasattr(verdict(InitialLoss, seen(**healthy)), "remedy")


def _terms(small_end: float, gradient: float, name: str = "cross_entropy", start: float = 1.1) -> list[dict[str, object]]:
    return [term for n in range(10) for term in (
        {"step": n, "name": "mse", "value": 900.0 - n, "gradient_norm": 500.0, "line": 9},
        {"step": n, "name": name, "value": start + (small_end - start) * n / 9, "gradient_norm": gradient, "line": 10})]


def test_drowned_term() -> None:
    found(DrownedTerm, seen(loss_terms=_terms(1.1, 0.5), loss_calls=[call()]), "drowns cross_entropy", "1000 times")
    found(DrownedTerm, seen(loss_terms=_terms(5.5, 0.5), loss_calls=[call()]), "from 1.1 to 5.5")


def test_a_term_that_is_drowned_by_gradient_alone() -> None:
    terms = [term | {"value": term["value"] / 100} if term["line"] == 9 else term for term in _terms(1.1, 0.5)]  # type: ignore[operator]
    for alone, wrong in ((curve(0.1, 1.1, 0.3), True), (curve(0.1, 1.1, 1.08), False), (None, False)):
        observed = seen(loss_terms=terms, loss_calls=[call()], probes=ProbeFacts(term_alone=alone))
        assert hasattr(verdict(DrownedTerm, observed), "remedy") is wrong


@pytest.mark.parametrize(("terms", "facts"), [
    (_terms(0.2, 0.5), {}), (_terms(1.1, 400.0), {}), (_terms(1.1, 0.5, "kl"), {}), (_terms(1.1, 0.5, start=0.02), {}),
    (_terms(1.1, 0.5), {"models_stepped": 2}), ([], {})])
def test_terms_in_balance(terms: list[dict[str, object]], facts: dict[str, object]) -> None:
    assert not hasattr(verdict(DrownedTerm, seen(loss_terms=terms, loss_calls=[call()], **facts)), "remedy")


def test_sum_instead_of_mean() -> None:
    summed = call(reduction="sum", value=71.0, inputs=tensor(64, 3), target=ids(64))
    found(SumInsteadOfMean, seen(loss_calls=[summed], probes=FAILS_LEARNS_SMALLER, steps=steps(9, loss=71.0)), "64 rows", "1.109 a row")
    for healthy in (seen(loss_calls=[summed], probes=LEARNS), seen(loss_calls=[summed], probes=NEVER_LEARNS),
                    seen(loss_calls=[summed], probes=FAILS_LEARNS_SMALLER, steps=steps(9, loss=1.1)), seen(loss_calls=[call()])):
        assert verdict(SumInsteadOfMean, healthy) is None
    assert isinstance(verdict(SumInsteadOfMean, seen(loss_calls=[summed])), str)


@pytest.mark.parametrize(("batches", "trained", "wrong"), [
    (10, FAILS_LEARNS_SMALLER, True), (4, FAILS_LEARNS_SMALLER, False), (10, LEARNS, False), (10, NEVER_LEARNS, False),
    (0, FAILS_LEARNS_SMALLER, False)])
def test_a_sum_over_batches(batches: int, trained: ProbeFacts, *, wrong: bool) -> None:
    probed = msgspec.structs.replace(trained, undivided=batches)
    for facts, said in (({}, "(loss / 10).backward()"), ({"trainer": "Trainer"}, "num_items_in_batch")):
        observed = seen(loss_calls=[call()], probes=probed, **facts)
        if wrong:
            found(SumInsteadOfMean, observed, "10 batches", said)
        else:
            assert verdict(SumInsteadOfMean, observed) is None


def test_not_a_number() -> None:
    birth = BadBirth(step=3, what="activation", name="log", rows=[2, 5], row_labels=[0, 1], site=MODEL)
    bad = [*steps(2), *steps(3, loss=math.nan)[2:]]
    finding = found(NotANumber, seen(steps=bad, births=[birth], loss_calls=[call()]), "step 3", "`log`", "rows 2, 5")
    assert finding.site == MODEL
    found(NotANumber, seen(steps=bad, births=[BadBirth(step=1, what="input", name="age")], loss_calls=[call()]), "comes with the data")
    found(NotANumber, seen(steps=bad, loss_calls=[call()]), "set_detect_anomaly")


def test_numbers() -> None:
    assert verdict(NotANumber, seen(steps=steps(9))) is None
    scaler = BadBirth(step=1, what="gradient", name="head.weight")  # mixed precision begins with a scale that is too large
    assert verdict(NotANumber, seen(steps=steps(9), births=[scaler])) is None
    masked = BadBirth(step=1, what="activation", name="attention")  # minus infinity is how attention masks
    assert verdict(NotANumber, seen(steps=steps(9), births=[masked])) is None
    bad = [*steps(2), *steps(3, loss=math.inf)[2:]]
    away = [BadBirth(step=3, what="weight", name="w")]
    assert "S401" in str(verdict(NotANumber, seen(steps=bad, births=away, probes=FAILS_LEARNS_SMALLER)))


@pytest.mark.parametrize(("value", "wrong"), [(0.9999999403953552, True), (0.97, False)])
def test_a_softmax_over_one_unit_is_one_but_for_rounding(value: float, wrong: bool) -> None:
    facts = call("bce", inputs=tensor(8, 1, minimum=value, maximum=value), from_logits=False)
    result = verdict(OutputFitsLoss, seen(framework="keras", loss_calls=[facts], model=model(final_units=1, final_activation="softmax")))
    assert ("1 for every row" in getattr(result, "message", "")) is wrong


@pytest.mark.parametrize(("mean", "sums", "name", "wrong"), [
    (0.28, False, "cross_entropy", True), (0.28, False, "categorical", True), (0.2, True, "cross_entropy", False),
    (0.12, False, "categorical", False), (0.28, False, "bce_with_logits", False)])
def test_several_labels_at_once_and_a_softmax(mean: float, name: str, *, sums: bool, wrong: bool) -> None:
    target = TensorFacts(shape=(64, 5), dtype="float32", minimum=0.0, maximum=1.0, mean=mean, integral=True, rows_sum_to_one=sums)
    output = TensorFacts(shape=(64, 5), dtype="float32", minimum=-1.0, maximum=1.0, mean=0.0, std=0.5)
    observation = seen(loss_calls=[call(name, inputs=output, target=target)], model=model())
    if wrong:
        found(OutputFitsLoss, observation, "1.4 of 5", "binary")
    else:
        assert not hasattr(verdict(OutputFitsLoss, observation), "remedy")


def test_a_mean_of_nothing() -> None:
    empty = TensorFacts(shape=(16,), dtype="int64", minimum=-100, maximum=-100, mean=-100.0, integral=True)
    birth = BadBirth(step=1, what="loss", name="cross_entropy")
    observation = seen(births=[birth], steps=steps(2, loss=math.nan),
                       loss_calls=[call("cross_entropy", target=empty, value=math.nan, ignore_index=-100)])
    found(NotANumber, observation, "every target of that batch is -100", "mean of nothing")
