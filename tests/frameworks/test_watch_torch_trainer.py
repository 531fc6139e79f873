"""The Hugging Face Trainer under watch, with a tiny model drawn at random."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import torch_batches
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")

TRAINER = """
import tempfile
import numpy as np
import torch
from datasets import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed
set_seed(0)
ids = np.random.RandomState(0).randint(5, 60, (200, 12))
rows = {"input_ids": ids.tolist(), "attention_mask": np.ones_like(ids).tolist(), "label": (ids[:, 1] > 30).astype(int).tolist(),
        "text": ["x"] * 200}
data = Dataset.from_dict(rows)
model = BertForSequenceClassification(BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                                                 intermediate_size=32, max_position_embeddings=16, num_labels=2))
def compute_metrics(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}
class Mine(Trainer):
    pass
arguments = TrainingArguments(tempfile.mkdtemp(), max_steps=30, learning_rate=5e-3, per_device_train_batch_size=8, report_to="none",
                              save_strategy="no", use_cpu=True, logging_steps=1000, disable_tqdm=True)
trainer = Mine(model, arguments, train_dataset=data.select(range(160)), eval_dataset=data.select(range(160, 200)),
               compute_metrics=compute_metrics)
trainer.train()
results = trainer.evaluate()
"""


def test_a_healthy_trainer_is_described_whole(tmp_path: Path) -> None:
    seen = watch(tmp_path, TRAINER, steps=16)
    assert seen.exception is None
    assert (seen.framework, seen.trainer, seen.task, seen.stopped) == ("torch", "Mine", "classification", "finished")
    assert (seen.truncated_at, len(seen.steps)) == (16, 16)
    assert seen.model is not None
    assert (seen.model.num_labels, seen.model.vocabulary, seen.model.positions) == (2, 60, 16)
    assert "input_ids" in seen.model.accepts
    training = next(loader for loader in seen.loaders if loader.role == "train")
    assert training.dropped_columns == ["text"]
    assert (training.label_column, training.shuffled, training.rows) == ("label", True, 160)
    assert sum(training.label_counts.values()) == 160
    assert any(loader.role == "eval" for loader in seen.loaders)
    assert set(seen.batches[0].columns) == {"input_ids", "attention_mask", "labels"}
    assert seen.batches[0].inputs_key == "input_ids"
    assert seen.loss_calls[0].name == "cross_entropy"
    assert seen.optimizer is not None
    assert (seen.optimizer.kind, seen.optimizer.clipping, seen.optimizer.scheduled) == ("AdamW", 1.0, True)
    for name, part in (("trainer", "trainer = Mine("), ("training_arguments", "TrainingArguments(t"), ("fit", "trainer.train()"),
                       ("model", "BertForSequenceClassification(B")):
        assert part in seen.sites[name].source, name
    assert seen.probes.evaluation_error is None
    assert "eval_accuracy" in seen.probes.evaluation_values
    assert seen.probes.overfit is not None
    assert seen.evaluation.forwards == 5
    assert seen.evaluation.in_training_mode == 0
    assert [metric.name for metric in seen.evaluation.metrics][-1] in ("compute_metrics", "forward")


def test_a_metric_that_raises_is_found_before_training_ends(tmp_path: Path) -> None:
    text = TRAINER.replace("max_steps=30", "max_steps=3000").replace(".predictions.argmax(-1)", ".predictions.argmax(9)")
    seen = watch(tmp_path, text, steps=12)
    error = seen.probes.evaluation_error
    assert error is not None
    assert error["type"] == "AxisError"
    assert error["during"] == "probe"
    assert error["site"]["source"].startswith("return {")
    assert error["stage"] == "evaluation"


@pytest.mark.parametrize(("output", "works"), [("output_hidden_states=True", "first classes"), ("output_attentions=False", "classes")])
def test_a_metric_that_would_have_worked_on_something_else(tmp_path: Path, output: str, works: str) -> None:
    """What it raises at is no known message: the same function is asked again."""
    text = TRAINER.replace("num_labels=2))", f"num_labels=2, {output}))").replace("max_steps=30", "max_steps=3000").replace(
        "    return {", "    said = [['no', 'yes'][answer] for answer in prediction.predictions]\n    return {").replace(
        "prediction.predictions.argmax(-1)", "prediction.predictions")
    seen = watch(tmp_path, text, steps=12)
    assert seen.probes.evaluation_error is not None
    assert [metric.works for metric in seen.evaluation.metrics] == [works]
    finding = next(result.finding for result in walk(seen) if result.code == "E501")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source.startswith("said = ")


def test_a_metric_that_fails_for_reasons_of_its_own_is_come_to(tmp_path: Path) -> None:
    """A probe's exception that no check explains ends no script: its own evaluation does."""
    text = TRAINER.replace('    return {"acc', '    raise LookupError("nothing")\n    return {"acc')
    seen = watch(tmp_path, text, steps=12)
    assert seen.probes.evaluation_error is not None
    assert seen.exception is not None
    assert seen.exception.type == "LookupError"
    assert "A799" in found(seen)


@pytest.mark.parametrize("told", [False, True])
def test_labels_that_only_the_model_knows(tmp_path: Path, *, told: bool) -> None:
    own = """class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Embedding(60, 8), torch.nn.Flatten(), torch.nn.Linear(96, 2))
    def forward(self, input_ids, verdict=None):
        logits = self.inner(input_ids)
        return {"logits": logits} | ({} if verdict is None else {"loss": torch.nn.functional.cross_entropy(logits, verdict)})
model = Model()
def compute_metrics"""
    text = TRAINER.replace("def compute_metrics", own).replace('"label":', '"verdict":')
    text = text.replace("report_to=", 'label_names=["verdict"], report_to=') if told else text
    seen = watch(tmp_path, text, steps=12)
    assert seen.evaluation.unlabelled == (None if told else ["verdict"])
    assert found(seen) == ([] if told else ["D102"])


def test_labels_of_two_names(tmp_path: Path) -> None:
    """Beside other columns that the model takes if they are there."""
    own = """class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Embedding(60, 8), torch.nn.Flatten(), torch.nn.Linear(96, 4))
    def forward(self, input_ids=None, attention_mask=None, start_positions=None, end_positions=None):
        logits = self.inner(input_ids)
        if start_positions is None:
            return {"logits": logits}
        loss = torch.nn.functional.cross_entropy(logits[:, :2], start_positions)
        return {"logits": logits, "loss": loss + torch.nn.functional.cross_entropy(logits[:, 2:], end_positions)}
class ModelForQuestionAnswering(Model):
    pass
model = ModelForQuestionAnswering()
def compute_metrics"""
    text = TRAINER.replace("def compute_metrics", own).replace('"label": ', '"end_positions": (ids[:, 1] > 30).astype(int).tolist(), '
                                                                           '"start_positions": ')
    seen = watch(tmp_path, text.replace("report_to=", 'label_names=["labels"], report_to='), steps=12)
    assert seen.evaluation.unlabelled == ["start_positions", "end_positions"]
    assert found(seen) == ["D102"]


def test_rows_without_what_the_model_takes(tmp_path: Path) -> None:
    text = TRAINER.replace('"input_ids": ids.tolist(), "attention_mask": np.ones_like(ids).tolist(), ', "")
    seen = watch(tmp_path, text)
    assert seen.exception is not None
    training = next(loader for loader in seen.loaders if loader.role == "train")
    assert training.columns == ["label", "text"]
    assert training.dropped_columns == ["text"]


def test_an_argument_that_was_renamed(tmp_path: Path) -> None:
    seen = watch(tmp_path, TRAINER.replace("use_cpu=True", 'use_cpu=True, evaluation_strategy="steps"'))
    assert seen.exception is not None
    assert seen.exception.type == "TypeError"
    assert "eval_strategy" in seen.exception.accepts
    assert (seen.reached, seen.framework) == ("setup", "none")


def test_labels_as_models_of_series_name_them() -> None:
    import torch

    batch = {"past_values": torch.zeros(4, 8, 1), "target_values": torch.arange(4)}
    assert torch_batches.labels_in(batch) is batch["target_values"]
    assert torch_batches.inputs_key(torch_batches.columns_of(batch), batch["target_values"]) == "past_values"


@pytest.mark.parametrize(("grouped", "used", "wrong"), [
    ("group_by_length=True,", "answers = trainer.predict(tests).predictions", True),
    ("group_by_length=True,", "answers, labels, _ = trainer.predict(tests)", False),
    ("group_by_length=True,", "import pickle; kept = pickle.loads(pickle.dumps(trainer.predict(tests))).label_ids", False),
    ("group_by_length=True,", "out = trainer.predict(tests); right = (out.predictions.argmax(-1) == out.label_ids).mean()", False),
    ("", "answers = trainer.predict(tests).predictions", False)])
def test_answers_in_another_order_than_the_dataset(tmp_path: Path, grouped: str, used: str, *, wrong: bool) -> None:
    import transformers

    if grouped and "group_by_length" not in transformers.TrainingArguments.__dataclass_fields__:
        grouped = 'train_sampling_strategy="group_by_length",'  # transformers 5
    text = TRAINER.replace("logging_steps=1000,", f"logging_steps=1000, {grouped}").replace(
        "results = trainer.evaluate()", f"tests = data.select(range(160, 200))\n{used}")
    seen = watch(tmp_path, text, steps=16)
    assert seen.exception is None, seen.exception
    finding = next(result.finding for result in walk(seen) if result.code == "E505")
    assert (finding is not None) == wrong
    if finding is not None:
        assert finding.site is not None
        assert grouped in finding.site.source
