"""D101 to D108, on observations made by hand: the broken, the healthy, and the healthy that look broken."""

from __future__ import annotations

import pytest

from harness.checks.data_facts import ApartFacts, BatchFacts
from harness.checks.loss_facts import LossCall
from harness.checks.metric_facts import MetricFacts
from harness.checks.model_facts import ModelFacts, OptimizerFacts
from harness.checks.observation import Observation
from harness.checks.probe_facts import ProbeFacts
from harness.checks.tensor_facts import Site, TensorFacts
from tests.checks.made import SITE, curve, error, finding, healthy, ids, judge, metric, steps, text_batch

CODES = ["D101", "D102", "D103", "D104", "D105", "D106", "D107", "D108"]


@pytest.mark.parametrize("code", CODES)
def test_silent_on_a_healthy_run(code: str) -> None:
    assert judge(code, healthy()) != "found"


@pytest.mark.parametrize("code", CODES)
def test_silent_on_nothing(code: str) -> None:
    assert judge(code, Observation()) not in {"found", "clean"}


def test_raw_dataset() -> None:
    seen = healthy()
    seen.batches, seen.steps = [], []
    seen.loaders[0].columns, seen.loaders[0].dropped_columns = ["premise", "hypothesis", "label"], ["premise", "hypothesis"]
    seen.exception = error("ValueError", "You have to specify either input_ids or inputs_embeds")
    found = finding("D101", seen)
    assert "`premise` and `hypothesis` are dropped" in found.message
    assert 'rows["premise"]' in found.remedy


def test_column_that_the_wrapper_does_not_name() -> None:
    seen = healthy()
    seen.batches = []
    seen.exception = error("ValueError", "You must specify exactly one of input_ids or inputs_embeds")
    assert "remove_unused_columns=False" in finding("D101", seen).remedy


def test_both_kinds_of_input_are_not_missing_inputs() -> None:
    seen = healthy()
    seen.exception = error("ValueError", "You must specify exactly one of input_ids or inputs_embeds")
    assert judge("D101", seen) == "clean"


def test_image_model_without_pixels() -> None:
    seen = Observation(framework="torch", batches=[BatchFacts(columns={"labels": ids()})], model=ModelFacts(accepts=["pixel_values"]))
    seen.exception = error("AttributeError", "'NoneType' object has no attribute 'dtype'",
                           frames=[("/lib/transformers/models/vit/modeling_vit.py", 9, "forward")])
    assert "`pixel_values`" in finding("D101", seen).message


def test_decoder_without_labels() -> None:
    seen = Observation(framework="torch", batches=[BatchFacts(columns={"input_ids": ids()})])
    seen.exception = error("ValueError", "You must specify exactly one of input_ids or inputs_embeds")
    assert judge("D101", seen) == "clean"
    assert "labels" in finding("D102", seen).message


def test_labels_under_another_name() -> None:
    seen = healthy()
    seen.loaders[0].label_column, seen.loaders[0].dropped_columns = "sentiment", ["text", "sentiment"]
    seen.exception = error("ValueError", "The model did not return a loss from the inputs, only the following keys: logits. For reference, "
                           "the inputs it received are input_ids,attention_mask.", "loss")
    assert 'rename_column("sentiment", "labels")' in finding("D102", seen).remedy


def test_loss_of_none_that_a_forgotten_return_made() -> None:
    seen = Observation(framework="torch", loss_calls=[LossCall(name="cross_entropy", value=1.0)], model=ModelFacts(accepts=["x"]))
    seen.exception = error("AttributeError", "'NoneType' object has no attribute 'backward'", "setup", "loss.backward()")
    assert judge("D102", seen) == "clean"


def test_a_dictionary_of_the_users_own() -> None:
    seen = Observation(exception=error("KeyError", "'label'", "setup", "names['label']"))
    assert judge("D102", seen) == "clean"


def test_unknown_tokens() -> None:
    seen = healthy()
    seen.steps = steps([1.1] * 60)
    seen.batches = [text_batch(texts=["[CLS] [UNK] [UNK] [SEP]"], unknown_share=0.95) for _ in range(2)]
    assert "95 %" in finding("D103", seen).message


def test_small_vocabulary_that_learns() -> None:
    seen = healthy()
    seen.batches = [text_batch(unknown_share=0.6) for _ in range(2)]
    assert judge("D103", seen) == "clean"


def test_constant_inputs() -> None:
    seen = healthy()
    constant = TensorFacts(shape=(8, 16), dtype="float32", minimum=0.0, maximum=0.0, mean=0.0, std=0.0)
    seen.batches = [BatchFacts(columns={"x": constant}, labels=[0, 1] * 4, inputs_key="x") for _ in range(2)]
    assert "Every value" in finding("D103", seen).message
    seen.batches = [BatchFacts(columns={"x": constant}, labels=None, inputs_key="x") for _ in range(2)]
    assert judge("D103", seen) == "clean"  # nothing says that they should differ


def test_one_row_for_all() -> None:
    seen = healthy()
    seen.batches = [text_batch(texts=["[CLS] a film [SEP]"] * 4) for _ in range(2)]
    assert "same text" in finding("D103", seen).message


def test_constant_labels() -> None:
    seen = healthy()
    seen.loaders[0].label_counts = {"1": 600}
    assert "600" in finding("D104", seen).message
    seen.loaders[0].rows = None
    seen.loaders[0].label_counts, seen.loaders[0].shuffled = {"1": 100}, False
    assert "only the first 100 rows" in judge("D104", seen)  # sorted, perhaps


def test_constant_targets_of_a_discriminator() -> None:
    seen = healthy()
    seen.models_stepped = 2
    seen.loaders[0].label_counts = {"1": 600}
    assert judge("D104", seen) not in {"found", "clean"}


@pytest.mark.parametrize(("name", "fault"), [("cross_entropy", True), ("hinge", False), ("mse", False)])
def test_a_guess_whose_price_is_not_known(name: str, *, fault: bool) -> None:
    seen = uninformative()
    for call in seen.loss_calls:
        call.name = name
    assert (judge("D106", seen) == "found") is fault


def test_every_label_left_out() -> None:
    seen = healthy()
    out = TensorFacts(shape=(4, 16), dtype="int64", minimum=-100, maximum=-100)
    seen.loss_calls = [LossCall(name="cross_entropy", target=out, ignore_index=-100) for _ in range(3)]
    assert "-100" in finding("D104", seen).message
    seen.made = {"labels": Site(file="train.py", line=12, function="to_features")}
    assert finding("D104", seen).site == seen.made["labels"]


@pytest.mark.parametrize(("lowest", "fault"), [(-100, True), (-1, False)])
def test_every_label_of_a_column_left_out(lowest: int, *, fault: bool) -> None:
    seen = healthy()
    seen.loss_calls = [LossCall(name="sparse_categorical", target=TensorFacts(shape=(32, 13), dtype="int32", minimum=0, maximum=0))] * 3
    for batch in seen.batches:
        batch.columns["labels"] = TensorFacts(shape=(32, 14), dtype="int64", minimum=lowest, maximum=lowest)
    assert (judge("D104", seen) == "found") is fault
    seen.loss_calls = [LossCall(name="kl", target=TensorFacts(shape=(32, 13), dtype="float32"))] * 3
    assert judge("D104", seen) != "found"  # a teacher's answers are learnt


def imbalanced() -> Observation:
    seen = healthy()
    seen.loaders[0].label_counts = {"0": 540, "1": 60}
    seen.evaluation.metrics = [metric({"0": 100}, {"0": 90, "1": 10}, 0.9)]
    seen.probes = ProbeFacts(overfit=curve(0.7, 0.01, accuracy=1.0))
    return seen


def test_majority() -> None:
    seen = imbalanced()
    found = finding("D105", seen)
    assert "0.900" in " ".join(found.evidence)
    assert "weight=torch.tensor([0.56, 5])" in found.remedy
    seen.evaluation.metrics = [metric({"0": 92, "1": 8}, {"0": 90, "1": 10}, 0.94)]
    assert judge("D105", seen) == "clean"
    seen.evaluation.metrics = [metric({"0": 990, "1": 10}, {"0": 980, "1": 20}, 0.99)]  # half of those that there are
    assert judge("D105", seen) == "clean"
    seen.evaluation.metrics = [metric({"0": 998, "1": 2}, {"0": 980, "1": 20}, 0.982)]
    assert judge("D105", seen) == "found"
    seen.truncated_at = 60  # a loss that weighs rows may go on to the rarer label
    assert judge("D105", seen) not in {"found", "clean"}


@pytest.mark.parametrize(("name", "key", "value", "fault"), [
    ("evaluate", "pr_auc", 0.5, False), ("evaluate", "pr_auc", 0.11, True), ("roc_auc_score", "roc_auc_score", 0.9, False),
    ("roc_auc_score", "roc_auc_score", 0.52, True), ("average_precision_score", "value", 0.6, False), ("evaluate", "loss", 0.9, True)])
def test_majority_of_a_model_that_is_judged_by_its_order(name: str, key: str, value: float, *, fault: bool) -> None:
    seen = imbalanced()
    seen.evaluation.metrics.append(MetricFacts(name=name, values={key: value}))
    assert (judge("D105", seen) == "found") is fault


@pytest.mark.parametrize("change", ["weighted", "cut short", "no probe", "fails the probe", "untrained first"])
def test_majority_on_purpose_or_unclear(change: str) -> None:
    seen = imbalanced()
    if change == "weighted":
        seen.loss_calls = [LossCall(name="cross_entropy", weighted=True)]
    elif change == "cut short":
        seen.stopped = "enough steps"
    elif change == "no probe":
        seen.probes = ProbeFacts()
    elif change == "fails the probe":
        seen.probes = ProbeFacts(overfit=curve(0.7, 0.69, accuracy=0.5))
    else:
        seen.evaluation.metrics.append(metric({"0": 91, "1": 9}, {"0": 90, "1": 10}, 0.95))
    assert judge("D105", seen) != "found"


def uninformative() -> Observation:
    seen = healthy()
    seen.steps = steps([1.1] * 60)
    seen.probes = ProbeFacts(text_baseline=0.335, text_baseline_shuffled=0.331, text_baseline_rows=600,
                             overfit=curve(1.1, 0.02, accuracy=1.0))
    return seen


def test_labels_without_information() -> None:
    assert "34 %" in finding("D106", uninformative()).message


def test_labels_that_were_memorised() -> None:
    seen = uninformative()
    seen.steps = healthy().steps
    seen.evaluation.metrics = [metric({"0": 60, "1": 70, "2": 70}, {"0": 66, "1": 67, "2": 67}, 0.34)]
    assert "no better than the share" in " ".join(finding("D106", seen).evidence)


@pytest.mark.parametrize(
    "change", ["baseline learns", "few rows", "script learns", "one label dominates", "pairs", "cannot fit", "short", "sequences",
               "rare rows drawn again and again"])
def test_labels_with_information_or_unclear(change: str) -> None:
    seen = uninformative()
    if change == "baseline learns":
        seen.probes.text_baseline = 0.6
    elif change == "few rows":
        seen.probes.text_baseline_rows = 60
    elif change == "script learns":
        seen.steps = healthy().steps
    elif change == "one label dominates":
        seen.loaders[0].label_counts = {"0": 540, "1": 60}
    elif change == "pairs":
        seen.batches = [text_batch(texts=["[CLS] a [SEP] b [SEP]"])]
    elif change == "cannot fit":
        seen.probes.overfit = curve(1.1, 1.1, accuracy=0.3)
    elif change == "short":
        seen.steps = steps([1.1] * 20)
    elif change == "rare rows drawn again and again":
        seen.probes.text_baseline, seen.probes.text_baseline_shuffled = 0.935, 0.93
    else:
        assert seen.model is not None
        seen.model.pretrained = None  # a recurrent net of the script's own on ids: order may be all that counts
    assert judge("D106", seen) != "found"


def test_answers_for_other_rows() -> None:
    seen = healthy()
    seen.apart = ApartFacts(steps=1, answered=True, rows=64, same_rows=1, inputs=SITE)
    found = finding("D106", seen)
    assert "answers that a model gave for other rows" in found.message
    assert "of 64 rows" in found.evidence[0]
    assert found.site == SITE


@pytest.mark.parametrize(("scheduled", "rate", "state"), [(True, 1e-3, "found"), (False, 1e-3, "other"), (True, 1e-2, "other")])
def test_a_schedule_that_begins_low(scheduled: bool, rate: float, state: str) -> None:
    seen = uninformative()
    seen.optimizer = OptimizerFacts(scheduled=scheduled)
    seen.probes.overfit = curve(1.1, 0.95, rate=1e-4)
    seen.probes.overfit_scaled = [curve(1.1, 0.02, accuracy=1.0, rate=rate)]
    assert (judge("D106", seen) == "found") is (state == "found")


@pytest.mark.parametrize(("same", "found"), [(0, True), (8, False)])
def test_two_sources_in_two_orders(same: int, found: bool) -> None:
    seen = healthy()
    seen.apart = ApartFacts(steps=8, same=same, example=([3, 1], [2, 0]))
    assert (judge("D106", seen) == "found") is found


def test_a_column_that_is_read_when_the_trainer_has_dropped_it() -> None:
    seen = healthy()
    seen.batches, seen.steps = [], []
    seen.loaders[0].dropped_columns = ["image"]
    seen.sites["training_arguments"] = Site(file="train.py", line=83, source="args = TrainingArguments(")
    seen.exception = error("KeyError", "'image'", stage="data", source='return {"pixel_values": read(batch["image"])}')
    found = finding("D101", seen)
    assert "remove_unused_columns=False" in found.remedy
    assert found.site == seen.sites["training_arguments"]
    seen.exception = error("KeyError", "'picture'", stage="data")
    assert judge("D101", seen) != "found"


@pytest.mark.parametrize(("labels", "positions", "end", "found"), [
    ([4, 4, 4], 60, 0.3, True), ([4, 4, 7], 60, 0.3, False), ([4, 4, None], 60, 0.3, False), ([4, 4, 4], 6, 0.3, False),
    ([4, 4, 4], 60, 1.0, False), ([4, 4], 200, 0.3, False)])
def test_one_token_to_predict(labels: list[int | None], positions: int, end: float, found: bool) -> None:
    seen = healthy()
    seen.task = "language"
    seen.batches = [BatchFacts(columns={"input_ids": ids()}, label_positions=positions, one_label=label) for label in labels]
    seen.steps = steps([1.0 + (end - 1.0) * n / 19 for n in range(20)])
    assert (judge("D104", seen) == "found") is found
    for batch in seen.batches:
        batch.columns = {"1": batch.columns["input_ids"]}  # a mask beside images, say, that no loss may ever see
    assert judge("D104", seen) != "found"
