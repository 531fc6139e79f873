"""Metrics of a script's own, asked about answers that are all right."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.metric_facts import MetricFacts, RightFacts
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, walk, watch

TRAINER = '''
import numpy as np, torch
from transformers import Trainer, TrainingArguments
torch.manual_seed(0)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(6, 6)
    def forward(self, x, labels=None):
        logits = self.head(x)
        return {"loss": torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels), "logits": logits}
middles = 3 * torch.randn(6, 6)
def row():
    kinds = torch.randint(0, 6, (6,))
    return {"x": middles[kinds] + torch.randn(6, 6), "labels": kinds}
rows = [row() for n in range(240)]
spoken = np.stack([row["labels"].numpy() for row in rows[200:]])  # by somebody else, who says other things at times
spoken = np.where(np.random.default_rng(0).random(spoken.shape) < 0.6, spoken, 0)
def compute_metrics(p):
    METRIC
args = TrainingArguments(OUT, num_train_epochs=2, learning_rate=3e-2, report_to=[], use_cpu=True, save_strategy="no")
trainer = Trainer(Model(), args, train_dataset=rows[:200], eval_dataset=rows[200:], compute_metrics=compute_metrics)
trainer.train()
trainer.evaluate()
'''


@pytest.mark.parametrize(("metric", "line"), [
    ("read = np.argmax(p.predictions, axis=1)\n    return {'accuracy': (read == p.label_ids).mean()}", "axis=1"),
    ("read = p.predictions.argmax(-1)\n    return {'accuracy': (read[:-1] == p.label_ids[1:]).mean()}", "read[:-1]"),
    ("read = np.argmax(p.predictions, axis=2)\n    return {'accuracy': (read == p.label_ids).mean()}", None),
    ("read = p.predictions.argmax(-1)\n    ok = read == p.label_ids\n    return {'acc_first': ok[:, 0].mean(), 'error': 1 - ok.mean()}",
     None),
    ("read = p.predictions.argmax(-1)\n    return {'accuracy': (read == spoken).mean()}", None)],
    ids=["along the places", "of the next row", "along the classes", "of a place", "against others"])
def test_a_trainer(tmp_path: Path, metric: str, line: str | None) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, TRAINER.replace("METRIC", metric).replace("OUT", repr(str(tmp_path / "out"))), probe_seconds=0.5)
    assert any(call.right is not None for call in seen.evaluation.metrics), seen.warnings
    assert not [text for text in seen.warnings if "watching failed" in text]
    assert ("E526" in found(seen)) is (line is not None), [call.right for call in seen.evaluation.metrics]
    if line is not None:
        told = next(each.finding for each in walk(seen) if each.code == "E526")
        assert told is not None
        assert told.site is not None
        assert line in told.site.source


CALLBACK = '''
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np, tensorflow as tf, tf_keras
from transformers import KerasMetricCallback
tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
middles = 3 * rng.normal(size=(4, 6))
kinds = rng.integers(0, 4, (300, 7))
x = (middles[kinds] + rng.normal(size=(300, 7, 6))).astype("float32")
blank = np.where(np.arange(7) < rng.integers(3, 7, (300, 1)), kinds, -100)
rows = tf.data.Dataset.from_tensor_slices((x, blank)).batch(20)
def loss(wanted, given):
    kept = tf.cast(wanted >= 0, tf.float32)
    rows = tf_keras.losses.sparse_categorical_crossentropy(tf.maximum(wanted, 0), given, from_logits=True)
    return tf.reduce_sum(rows * kept) / tf.reduce_sum(kept)
def compute_metrics(predictions):
    logits, labels = predictions
    read = logits.argmax(axis=-1)
    METRIC
model = tf_keras.Sequential([tf_keras.layers.Dense(4)])
model.compile(tf_keras.optimizers.Adam(1e-2), loss)
model.fit(rows, epochs=2, verbose=0, callbacks=[KerasMetricCallback(compute_metrics, eval_dataset=rows.take(5))])
'''


@pytest.mark.parametrize(("metric", "code"), [
    ("return {'accuracy': (read == labels).mean()}", "E513"), ("return {'accuracy': (read == labels)[labels >= 0].mean()}", None),
    ("return {'accuracy': (read[:, 1:] == labels[:, :-1])[labels[:, :-1] >= 0].mean()}", "E526")],
    ids=["all places", "those with a label", "of the place before"])
def test_the_callback_of_transformers(tmp_path: Path, metric: str, code: str | None) -> None:
    pytest.importorskip("tf_keras")
    pytest.importorskip("transformers.keras_callbacks")
    seen = watch(tmp_path, CALLBACK.replace("METRIC", metric), probe_seconds=0.5)
    assert any(call.right is not None for call in seen.evaluation.metrics), seen.warnings
    assert not [text for text in seen.warnings if "watching failed" in text]
    assert [each for each in found(seen) if each.startswith("E5")] == ([code] if code else []), seen.evaluation.metrics


def test_what_short_of_full_means() -> None:
    seen = healthy()
    facts = RightFacts(values={"accuracy": 0.2}, shuffled={"accuracy": 0.21}, classes=4, present=4, places=400, shape=[100, 4, 4])
    seen.evaluation.metrics = [MetricFacts(name="compute_metrics", values={"accuracy": 0.19}, right=facts)]
    assert "accuracy is 0.2" in finding("E526", seen).message
    for values, shuffled in (({"accuracy": 1.0}, 1.0), ({"accuracy": 20.0}, 20.0), ({"accuracy": 0.7}, 0.2), ({"top5_acc": 0.2}, 0.2),
                             ({"mismatch": 0.0}, 0.0), ({"vaccinated": 0.2}, 0.2)):
        facts.values, facts.shuffled = values, dict.fromkeys(values, shuffled)
        assert judge("E526", seen) == "clean", values
    facts.values, facts.shuffled = {"f1": 0.5}, {"f1": 0.5}
    assert judge("E526", seen) == "found"
    facts.present = 2  # a class that no row has counts as 0 in a mean over classes
    assert judge("E526", seen) == "clean"
    seen.evaluation.metrics = []
    assert judge("E526", seen).startswith("no metric of the script's own")


NUMBERS = """
import numpy as np, torch
from transformers import Trainer, TrainingArguments
torch.manual_seed(0)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 1)
    def forward(self, x, labels=None):
        logits = self.head(x)
        return {"loss": torch.nn.functional.mse_loss(logits.squeeze(-1), labels), "logits": logits}
X = torch.randn(240, 4)
price = 500 + 200 * X[:, 0] + 20 * torch.randn(240)
mean, std = price.mean().item(), price.std().item()
rows = [{"x": x, "labels": (p - mean) / std} for x, p in zip(X, price)]
def compute_metrics(p):
    told, wanted = p.predictions.reshape(-1), p.label_ids.reshape(-1)
    METRIC
args = TrainingArguments(OUT, num_train_epochs=2, learning_rate=3e-2, report_to=[], use_cpu=True, save_strategy="no")
trainer = Trainer(Model(), args, train_dataset=rows[:180], eval_dataset=rows[180:], compute_metrics=compute_metrics)
trainer.train()
trainer.evaluate()
"""


@pytest.mark.parametrize(("metric", "wrong"), [
    ("return {'mae': np.abs(told * std + mean - wanted).mean()}", True),
    ("return {'within_100': (np.abs(told * std + mean - wanted) < 100).mean()}", True),
    ("return {'mae': np.abs((told - wanted) * std).mean(), 'within_100': (np.abs(told - wanted) * std < 100).mean()}", False),
    ("return {'rmse': np.sqrt(((told - wanted) ** 2).mean()), 'r2': 1 - ((told - wanted) ** 2).mean() / wanted.var()}", False),
    ("return {'baseline_mae': np.abs(wanted - 3).mean()}", False), ("return {'rmse_mean': np.sqrt(((wanted - 3) ** 2).mean())}", False)])
def test_numbers(tmp_path: Path, metric: str, *, wrong: bool) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, NUMBERS.replace("METRIC", metric).replace("OUT", repr(str(tmp_path / "out"))), probe_seconds=0.5)
    assert any(call.right is not None and not call.right.classes for call in seen.evaluation.metrics), seen.warnings
    assert ("E526" in found(seen)) is wrong, [call.right for call in seen.evaluation.metrics]


def test_numbers_of_two_scales(tmp_path: Path) -> None:
    """What the model answers is mapped to the scale of the references, as it has to be."""
    pytest.importorskip("transformers")
    text = NUMBERS.replace('"labels": (p - mean) / std', '"labels": p').replace("labels)", "(labels - mean) / std)", 1)
    text = text.replace("METRIC", "return {'mae': np.abs(told * std + mean - wanted).mean()}").replace("OUT", repr(str(tmp_path / "out")))
    seen = watch(tmp_path, text, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.evaluation.metrics
    assert all(call.right is None for call in seen.evaluation.metrics)
