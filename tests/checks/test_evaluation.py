"""The evaluation's checks."""

from __future__ import annotations

import pytest

from harness.checks.base import Finding
from harness.checks.evaluation import ConstantPrediction, MetricInput
from harness.checks.evaluation_facts import AlignmentFacts, EvaluationFacts, MonitorFacts
from harness.checks.evaluation_mode import EvaluationInTrainingMode, TrainingInEvaluationMode
from harness.checks.metric_facts import DecisionFacts, MetricFacts
from harness.checks.metric_places import MetricPlaces
from harness.checks.newest_batch import NewestBatch
from harness.checks.norm_facts import HastyFacts
from harness.checks.observation import Observation
from harness.checks.probe_facts import ProbeFacts
from harness.checks.tensor_facts import Site, TensorFacts
from harness.checks.training_facts import ExceptionFacts, StepFacts
from tests.checks.facts import HERE, call, died, found, ids, model, parameter, recorded, seen, steps, tensor, verdict

DROPOUT = model(stochastic=True)
NORM = model(stochastic=True, has_batch_norm=True)


@pytest.mark.parametrize(("name", "words"), [
    ("ev_logits", "argmax(axis=-1)"), ("ev_logits_batch", "argmax"), ("sk_logits", "argmax"), ("sk_f1_logits", "argmax"),
    ("sk_swapped", "argmax"), ("sk_binary_cont", "(logits > 0)"), ("sk_onehot", "one-hot"), ("sk_lengths", "4 of one and 12"),
    ("ev_list", "2 of one and 3"), ("ev_tuple", "logits[0]")])
def test_metric_input_raised(name: str, words: str) -> None:
    metric = MetricFacts(predictions=tensor(4, 3), references=ids(4))
    found(MetricInput, died(name, evaluation=EvaluationFacts(metrics=[metric])), words, "(4, 3)")


@pytest.mark.parametrize(("name", "words"), [("np_scalar", "argmax"), ("np_scalar2", "argmax"), ("np_ragged", "several arrays"),
                                             ("np_tuple_argmax", "several arrays")])
def test_metric_input_needs_its_place(name: str, words: str) -> None:
    assert verdict(MetricInput, died(name)) is None  # such a message may come from anywhere
    error = recorded(name)
    error.frames = [("/lib/transformers/trainer.py", 9, "evaluation_loop"), ("train.py", 3, "compute_metrics")]
    found(MetricInput, died(error), words)


def test_metric_input_of_keras() -> None:
    found(MetricInput, died("tf_keras_metric"))


def test_metric_input_tried_before_training() -> None:
    site = {"file": "train.py", "line": 4}
    facts = {"type": "ValueError", "message": recorded("ev_logits").message, "stage": "evaluation", "site": site}
    finding = found(MetricInput, seen(probes=ProbeFacts(evaluation_error=facts)), "only after the training")
    assert finding.site is not None
    assert finding.site.line == 4


@pytest.mark.parametrize("name", ["sk_f1_binary_avg", "sk_roc", "ce_out", "mse_shape", "tf_keras_cat_int"])
def test_other_exceptions(name: str) -> None:
    assert verdict(MetricInput, died(name)) is None


def test_largest_score_along_the_wrong_axis() -> None:
    message = "The size of tensor a (3) must match the size of tensor b (169) at non-singleton dimension 0"
    line = Site(file="train.py", line=30, source="right = (predicted == labels).sum()")
    error = ExceptionFacts(type="RuntimeError", message=message, stage="setup", site=line, frames=[(line.file, line.line, "accuracy")])
    facts = {"task": "classification", "model": model(final_units=3)}
    found(MetricInput, died(error, **facts), "3 predictions, one per class", "169 labels", "argmax(dim=-1)")
    assert verdict(MetricInput, died(error, task="classification", model=model(final_units=5))) is None
    assert verdict(MetricInput, died(error, task="regression", model=model(final_units=3))) is None
    error.module = "fc: Linear(3, 169)"
    assert verdict(MetricInput, died(error, **facts)) is None


def test_evaluation_in_training_mode() -> None:
    facts = EvaluationFacts(forwards=10, in_training_mode=10, site=HERE)
    found(EvaluationInTrainingMode, seen(model=DROPOUT, evaluation=facts), "10 of 10", "model.eval()", "dropout")
    found(EvaluationInTrainingMode, seen(model=NORM, evaluation=facts, probes=ProbeFacts(repeat_differs=False)), "running statistics")
    found(EvaluationInTrainingMode, seen(framework="keras", model=DROPOUT, evaluation=facts), "10 of 10", "training=False")
    for healthy in (seen(model=model(), evaluation=facts), seen(model=DROPOUT, evaluation=EvaluationFacts(forwards=10)),
                    seen(model=DROPOUT, evaluation=facts, probes=ProbeFacts(repeat_differs=False))):
        assert verdict(EvaluationInTrainingMode, healthy) is None
    assert isinstance(verdict(EvaluationInTrainingMode, seen(model=DROPOUT, evaluation=facts, models_stepped=2)), str)  # samples of a GAN


def test_training_in_evaluation_mode() -> None:
    after = EvaluationFacts(forwards=5, training_forwards=40, training_in_eval_mode=20, site=HERE)
    found(TrainingInEvaluationMode, seen(model=DROPOUT, evaluation=after), "20 of 40", "after an evaluation", "model.train()")
    start = EvaluationFacts(forwards=5, training_forwards=40, training_in_eval_mode=40, site=HERE)
    found(TrainingInEvaluationMode, seen(model=NORM, evaluation=start), "from the start")
    never = EvaluationFacts(training_forwards=40, training_in_eval_mode=40)
    loaded = model(stochastic=True, pretrained=True)
    for healthy in (seen(model=model(), evaluation=after), seen(model=loaded, evaluation=never),
                    seen(model=DROPOUT, evaluation=EvaluationFacts(forwards=5, training_forwards=40))):
        assert verdict(TrainingInEvaluationMode, healthy) is None
    body = model(stochastic=True, parameters=[parameter("a", trainable=False), parameter("b", trainable=False), parameter("head")])
    assert isinstance(verdict(TrainingInEvaluationMode, seen(model=body, evaluation=start)), str)


def _metric(**facts: object) -> EvaluationFacts:
    return EvaluationFacts(metrics=[MetricFacts(**{"values": {"accuracy": 0.9}, "predicted_counts": {"0": 100}, "site": HERE,
                                                   "reference_counts": {"0": 90, "1": 10}, **facts})])


def test_constant_prediction() -> None:
    found(ConstantPrediction, seen(evaluation=_metric(), steps=steps(40)), "class 0", "0.900", "0 x 90, 1 x 10")


@pytest.mark.parametrize("facts", [
    {"predicted_counts": {"0": 95, "1": 5}}, {"values": {"accuracy": 0.9, "f1": 0.47}}, {"reference_counts": {"0": 90}},
    {"reference_counts": {"0": 50, "1": 50}, "values": {"accuracy": 0.5}},
    {"predicted_counts": {"0": 9}, "reference_counts": {"0": 8, "1": 1}},
    {"values": {"mse": 0.9}}])
def test_telling_metrics(facts: dict[str, object]) -> None:
    assert verdict(ConstantPrediction, seen(evaluation=_metric(**facts), steps=steps(40))) is None


def test_constant_prediction_early() -> None:
    assert isinstance(verdict(ConstantPrediction, seen(evaluation=_metric(), steps=steps(3))), str)
    assert isinstance(verdict(ConstantPrediction, seen(steps=steps(99))), str)


def test_no_metric_error_from_elsewhere() -> None:
    error = ExceptionFacts(type="TypeError", message="only 0-dimensional arrays can be converted to Python scalars", stage="data")
    assert verdict(MetricInput, died(error)) is None


def made_by_hand(**facts: object) -> Observation:
    usual = {"how": "round", "values": 100, "minimum": -4.0, "maximum": 3.0, "lost": 12, "odd": 40, "site": HERE}
    decision = DecisionFacts(**(usual | facts))
    return seen(loss_calls=[call(name="bce_with_logits")], evaluation=EvaluationFacts(decisions=[decision]))


def test_logits_rounded_or_compared_with_one_half() -> None:
    found(MetricInput, made_by_hand(), "rounded as if they were probabilities", "40 of 100")
    found(MetricInput, made_by_hand(how="compare", threshold=0.5), "compared with 0.5", "12 of 100")


@pytest.mark.parametrize("facts", [{"how": "compare", "threshold": 0.0}, {"minimum": 0.01, "maximum": 0.99, "odd": 0},
                                   {"how": "compare", "threshold": 2.0}, {"odd": 0}])
def test_answers_by_hand_that_are_right(facts: dict[str, object]) -> None:
    assert verdict(MetricInput, made_by_hand(**facts)) is None


@pytest.mark.parametrize(("how", "broken", "task", "wrong"), [
    ("equal", 24, "classification", True), ("equal", 0, "classification", False), ("equal", 24, "regression", False),
    ("round", 24, "classification", False)])
def test_scores_compared_with_class_ids(how: str, broken: int, task: str, wrong: bool) -> None:
    made = DecisionFacts(how=how, values=24, minimum=-2.0, maximum=5.0, broken=broken, site=HERE)
    observation = seen(task=task, evaluation=EvaluationFacts(decisions=[made]))
    if wrong:
        found(MetricInput, observation, "class ids", "24 of 24", "argmax(dim=1)")
    else:
        assert verdict(MetricInput, observation) is None


@pytest.mark.parametrize(("name", "dtype", "wrong"), [
    ("MeanIoU", "float32", True), ("IoU", "float16", True), ("MeanIoU", "int64", False), ("BinaryIoU", "float32", False)])
def test_a_metric_that_counts_class_ids(name: str, dtype: str, wrong: bool) -> None:
    update = MetricFacts(name=name, predictions=tensor(0, 32, 32, 1, dtype=dtype), references=ids(0, 32, 32, 1), site=HERE, fractions=True)
    observation = seen(framework="keras", evaluation=EvaluationFacts(updates=[update]))
    if wrong:
        found(MetricInput, observation, "BinaryIoU", "(rows, 32, 32, 1)")
    else:
        assert verdict(MetricInput, observation) is None


@pytest.mark.parametrize(("cuts", "raw", "lost", "odd", "wrong"), [
    ((0.5, 0.5), True, 30, 10, True), ((0.5, 0.5), True, 2, 80, False), ((0.5, 0.5), False, 30, 10, False),
    ((0.0, 0.0), True, 30, 10, False), ((0.0, 1.0), True, 2, 80, True), (None, True, 30, 80, False)])
def test_a_metric_that_cuts_raw_scores(cuts: tuple[float, float] | None, raw: bool, lost: int, odd: int, wrong: bool) -> None:
    update = MetricFacts(name="AUC", predictions=tensor(0, 1), references=ids(0, 1), site=HERE, cuts=cuts, raw=raw)
    scores = DecisionFacts(how="scores", values=200, minimum=-6.0, maximum=7.0, lost=lost, odd=odd)
    observation = seen(framework="keras", evaluation=EvaluationFacts(updates=[update], scores=scores))
    if wrong:
        found(MetricInput, observation, "-6 to 7", "of 200 scores")
    else:
        assert verdict(MetricInput, observation) is None


@pytest.mark.parametrize(("facts", "wrong"), [
    ({}, True), ({"values": {"accuracy": (0.02, 0.7), "loss": (1.0, 1.0)}}, True), ({"same": 0.7, "following": 0.1}, False),
    ({"same": 0.3, "following": 0.35}, False), ({"values": {"bleu": (0.5, 0.51)}}, False)])
def test_answers_beside_the_token_before_theirs(facts: dict[str, object], wrong: bool) -> None:
    observation = seen(evaluation=EvaluationFacts(alignment=AlignmentFacts(**{"tokens": 900, "same": 0.02, "following": 0.71, "place": HERE,
                                                                              **facts})))
    if wrong:
        found(MetricPlaces, observation, "2 % agree", "71 %", "labels[:, 1:]", "900")
    else:
        assert verdict(MetricPlaces, observation) is None


def test_few_tokens_are_no_verdict() -> None:
    few = AlignmentFacts(tokens=50, same=0.0, following=1.0)
    assert "only 50" in str(verdict(MetricPlaces, seen(evaluation=EvaluationFacts(alignment=few))))


@pytest.mark.parametrize("message", ["out of range integral type conversion attempted", "number too small to fit in target type"])
def test_ids_that_cannot_be_decoded(message: str) -> None:
    observation = Observation(framework="torch", stopped="exception", exception=ExceptionFacts(
        type="OverflowError", bases=["Exception"], message=message, stage="data", site=HERE,
        frames=[["train.py", 61, "compute_metrics"], ["site-packages/transformers/tokenization_utils_base.py", 4064, "batch_decode"]]))
    found(MetricInput, observation, "-100", "pad_token_id")
    assert observation.exception is not None
    observation.exception.frames = [["train.py", 61, "pack"]]
    assert verdict(MetricInput, observation) is None


@pytest.mark.parametrize(("references", "wrong"), [
    (tensor(0), True), (tensor(0, 1), True), (ids(0), False), (tensor(0, 24), False)],
    ids=["the loss's numbers", "with an axis of one", "class ids of another training", "rows of another training"])
def test_an_accuracy_of_real_numbers(references: TensorFacts, wrong: bool) -> None:
    update = MetricFacts(name="SparseCategoricalAccuracy", predictions=tensor(0, 8), references=references, site=HERE)
    target = tensor(32, 1, minimum=-2.5, maximum=3.25, integral=False)
    observation = seen(framework="keras", task="regression", evaluation=EvaluationFacts(updates=[update]),
                       loss_calls=[call("mse", inputs=tensor(32, 1), target=target)])
    if wrong:
        found(MetricInput, observation, "real numbers")
    else:
        assert verdict(MetricInput, observation) is None


@pytest.mark.parametrize(("facts", "wrong"), [
    ({}, True), ({"ended": False}, False), ({"values": [0.9, 0.9, 0.91, 0.91]}, False), ({"values": [1.0] * 4}, False),
    ({"losses": [0.31, 0.3, 0.3, 0.31]}, False), ({"measure": "val_f1"}, False), ({"values": [0.9, 0.9], "losses": [0.5, 0.2]}, False)],
    ids=["ended", "went on", "moved", "all right", "nothing learnt", "another measure", "two epochs"])
def test_early_stopping_by_a_measure_that_stands_still(facts: dict[str, object], wrong: bool) -> None:
    monitor = MonitorFacts(**{"kind": "EarlyStopping", "measure": "val_accuracy", "greater": True, "ended": True, "values": [0.9] * 4,
                              "losses": [0.5, 0.3, 0.2, 0.15], "site": HERE} | facts)
    trained = [StepFacts(step=number + 1, loss=0.4, labels=[0] * 9 + [1]) for number in range(40)]
    observation = seen(framework="keras", evaluation=EvaluationFacts(monitors=[monitor]), steps=trained)
    if wrong:
        found(ConstantPrediction, observation, "stood at 0.900 for all 4 epochs", "val_loss")
    else:
        assert not isinstance(verdict(ConstantPrediction, observation), Finding)


@pytest.mark.parametrize(("own", "averaged", "each", "fault"), [
    (0.78, 0.80, [0.78, 0.64, 0.54, 0.86], True),  # which batch came last decides
    (0.90, 0.50, [0.90], True), (0.80, 0.80, [0.80, 0.78, 0.83], False), (0.02, 0.02, [0.02, 0.01, 0.04], False)])
def test_statistics_of_one_batch(own: float, averaged: float, each: list[float], *, fault: bool) -> None:
    hasty = HastyFacts(kind="BatchNormalization", part=0.9, own=own, averaged=averaged, batches=60, rows=8, each=each, site=HERE)
    assert isinstance(verdict(NewestBatch, seen(framework="keras", probes=ProbeFacts(hasty=hasty))), Finding) is fault
