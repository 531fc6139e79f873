"""Classes that have other numbers in the evaluation, and accuracies that are asked of a regression."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.evaluation_facts import RelationFacts
from harness.checks.metric_facts import MetricFacts
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
middles = rng.normal(size=(3, 6))
kinds = rng.integers(0, 3, size=600)
x = (3 * middles[kinds] + rng.normal(size=(600, 6))).astype("float32")
names = np.array(["ash", "elm", "oak"])[kinds]
ORDER
def ids_of(names):
    known = {}
    return np.array([known.setdefault(name, len(known)) for name in names])
y_train, y_test = IDS
"""
TORCH = DATA + """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset
rows = DataLoader(TensorDataset(torch.tensor(x[:400]), torch.tensor(y_train)), batch_size=25, shuffle=True)
others = DataLoader(TensorDataset(torch.tensor(x[400:]), torch.tensor(y_test)), batch_size=50)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(4):
    for xb, yb in rows:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(np.mean([(model(xb).argmax(1) == yb).float().mean().item() for xb, yb in others]))
"""
KERAS = DATA + """
import keras
keras.utils.set_random_seed(2)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x[:400], y_train, epochs=4, verbose=0)
model.evaluate(x[400:], y_test, verbose=0)
"""
# The first names of both parts are others.
ORDER = """
order = np.r_[np.flatnonzero(kinds == 0)[:1], np.arange(400), np.flatnonzero(kinds == 2)[:1], np.arange(400, 598)]
x, names = x[order], names[order]
"""
TWICE, ONCE = "ids_of(names[:400]), ids_of(names[400:])", "np.split(ids_of(names), [400])"


@pytest.mark.parametrize(("script", "package"), [(TORCH, "torch"), (KERAS, "keras")])
@pytest.mark.parametrize(("ids", "wrong"), [(TWICE, True), (ONCE, False)])
def test_ids_that_are_given_twice(tmp_path: Path, script: str, package: str, ids: str, *, wrong: bool) -> None:
    pytest.importorskip(package)
    seen = watch(tmp_path, script.replace("ORDER", ORDER).replace("IDS", ids), probe_seconds=0.5)
    assert any(call.pairs for call in seen.evaluation.metrics), seen.warnings
    assert ("E511" in found(seen)) is wrong, [call.pairs for call in seen.evaluation.metrics]


REGRESSION = """
import keras, numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(300, 4)).astype("float32")
y = (x[:, 0] - x[:, 1]).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=["METRIC"])
model.fit(x, y, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("metric", "wrong"), [("accuracy", True), ("mae", False)])
def test_an_accuracy_of_real_numbers(tmp_path: Path, metric: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, REGRESSION.replace("METRIC", metric), probe_seconds=0.5)
    assert ("E501" in found(seen)) is wrong, found(seen)


def test_what_an_exchange_is() -> None:
    seen = healthy()
    seen.evaluation.relation = RelationFacts(trained=0.98, trained_rows=400, held=0.3, rows=100, classes=True, trained_majority=0.35)
    call = MetricFacts(name="forward", pairs=[(0, 2, 30), (2, 0, 28), (1, 1, 30), (1, 0, 2), (0, 0, 3)])
    seen.evaluation.metrics = [call]
    assert "0 as 2, 2 as 0" in finding("E511", seen).evidence[0]
    seen.evaluation.metrics = [call, MetricFacts(name="forward", pairs=[(0, 0, 40), (1, 1, 30)])]
    assert judge("E511", seen) == "clean"  # an attack, say, beside rows as they are
    seen.evaluation.metrics = [call, call, call, MetricFacts(name="forward", pairs=[(0, 0, 40), (1, 1, 30)])]
    assert judge("E511", seen) == "found"  # an evaluation in every epoch, and one of the training's own rows in the end
    seen.evaluation.metrics.append(MetricFacts(name="forward", pairs=[(0, 0, 31), (1, 1, 31), (2, 2, 31)]))
    assert judge("E511", seen) == "clean"  # the same rows, told as they stand
    seen.evaluation.metrics = [MetricFacts(name="forward", pairs=[(0, 2, 30), (2, 2, 28), (1, 1, 30)])]
    assert judge("E511", seen) == "clean"  # two classes that are taken for one
    seen.evaluation.metrics = [call]
    seen.evaluation.relation.trained = 0.67
    assert judge("E511", seen) == "found"  # counted from the first step, which knew nothing
    seen.evaluation.relation.trained = 0.4
    assert judge("E511", seen) == "clean"  # a model that has learnt nothing
    seen.evaluation.metrics = []
    assert judge("E511", seen).startswith("no evaluation of at least 40 rows")


def test_classes_that_are_not_predicted_so_far_say_nothing() -> None:
    seen = healthy()
    seen.evaluation.relation = RelationFacts(trained=0.72, trained_rows=1000, held=0.3, rows=400, classes=True)
    early = [(1, 0, 111), (2, 2, 86), (3, 1, 52), (0, 3, 17), (0, 0, 8), (4, 2, 20), (4, 3, 12), (5, 3, 22), (5, 0, 7)]
    seen.evaluation.metrics = [MetricFacts(name="compute_metrics", pairs=early)]
    assert "1 as 0, 3 as 1" in finding("E511", seen).evidence[0]
    own = [(0, 0, 111), (2, 2, 86), (1, 1, 52), (3, 0, 30), (4, 2, 20), (5, 2, 22)]
    seen.evaluation.metrics = [MetricFacts(name="compute_metrics", pairs=own)]
    assert judge("E511", seen) == "clean"


TRAINER = '''
import numpy as np, torch
from transformers import Trainer, TrainingArguments
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(6, 3)
    def forward(self, x, labels=None):
        logits = self.head(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}
rows = [{"x": torch.randn(6), "labels": torch.tensor(n % 3)} for n in range(60)]
args = TrainingArguments("out", num_train_epochs=1, report_to=[], use_cpu=True, save_strategy="no")
trainer = Trainer(Model(), args, train_dataset=rows, eval_dataset=rows,
                  compute_metrics=lambda p: {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())})
trainer.train()
trainer.evaluate()
'''


def test_scores_of_a_trainer_are_told_class_by_class(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, TRAINER.replace('"out"', repr(str(tmp_path / "out"))), probe_seconds=0.5)
    calls = [call for call in seen.evaluation.metrics if call.name == "compute_metrics"]
    assert [sum(rows for *_, rows in call.pairs) for call in calls] == [60]
