"""Metrics that are given answers and references the other way round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.metric_facts import MetricFacts
from harness.checks.tensor_facts import TensorFacts
from harness.frameworks.watch.answered import Answered
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch

TORCH = """
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from sklearn.metrics import r2_score
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(400, 6)
y = x[:, 0] - x[:, 1] + 0.5 * torch.randn(400)
rows = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=32, shuffle=True)
others = DataLoader(TensorDataset(x[300:], y[300:]), batch_size=32)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for xb, yb in rows:
        loss = F.mse_loss(model(xb).squeeze(1), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    answers, wanted = [], []
    with torch.no_grad():
        for xb, yb in others:
            answers += (40 + 7 * model(xb).squeeze(1)).tolist()
            wanted += (40 + 7 * yb).tolist()
    print(r2_score(GIVEN))
"""
KERAS = """
import keras, numpy as np
from sklearn.metrics import precision_score
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 6)).astype("float32")
y = (x[:, 0] + rng.normal(size=400) > 0.5).astype("int64")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x[:300], y[:300], epochs=3, verbose=0)
answers = (model.predict(x[300:], verbose=0) > 0.3).astype(int).ravel()
print(precision_score(GIVEN))
"""


@pytest.mark.parametrize(("given", "wrong"), [("answers, wanted", True), ("wanted, answers", False)])
def test_torch(tmp_path: Path, given: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("GIVEN", given), probe_seconds=0.5)
    assert any(call.name == "r2_score" for call in seen.evaluation.metrics), seen.warnings
    assert ("E509" in found(seen)) is wrong


@pytest.mark.parametrize(("given", "wrong"), [("answers, y[300:]", True), ("y[300:], answers", False)])
def test_keras(tmp_path: Path, given: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("GIVEN", given), probe_seconds=0.5)
    assert any(call.name == "precision_score" for call in seen.evaluation.metrics), seen.warnings
    assert ("E509" in found(seen)) is wrong


def test_what_was_answered() -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(40, 3)).astype("float32"), rng.integers(0, 3, size=40)
    seen = Answered()
    seen.gave(scores[:25])
    seen.gave(scores[25:])
    assert seen.swapped(labels, scores.argmax(1))
    assert not seen.swapped(scores.argmax(1), labels)
    assert not seen.swapped(scores.argmax(1), scores.argmax(1))  # a perfect model says what is wanted
    assert not seen.swapped(labels, rng.permutation(labels))
    seen.trains()
    seen.gave(rng.normal(size=(40, 3)).astype("float32"))
    assert not seen.swapped(labels, scores.argmax(1))  # another evaluation's


def test_probabilities_of_a_model_that_is_always_right() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, size=40)
    scores = (np.where(labels, 3, -3) + rng.normal(size=40) * 0.5).astype("float32")
    seen = Answered()
    seen.gave(scores[:, None])
    probabilities = 1 / (1 + np.exp(-scores))
    assert not seen.swapped(probabilities, labels)  # the labels are what the scores say, and so are these
    assert seen.swapped(rng.permutation(labels), probabilities)
    assert seen.gave_these(probabilities)
    assert not seen.gave_these(rng.permutation(probabilities))


def test_metrics_that_are_the_same_both_ways() -> None:
    seen = healthy()
    given = TensorFacts(shape=(40,), dtype="int64")
    seen.evaluation.metrics = [MetricFacts(name="accuracy_score", predictions=given, references=given, swapped=True)]
    assert judge("E509", seen) == "clean"
    seen.evaluation.metrics.append(MetricFacts(name="recall_score", predictions=given, references=given, values={"r": 0.5}, swapped=True))
    assert "`recall_score`" in finding("E509", seen).message


ONE_NUMBER = """
import keras, numpy as np
from sklearn.metrics import accuracy_score
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 6)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int64")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy")
model.fit(x[:300], y[:300], epochs=6, verbose=0)
print(accuracy_score(y[300:], CLASSES))
"""


@pytest.mark.parametrize(("classes", "wrong"), [
    ("model.predict(x[300:], verbose=0).argmax(1)", True), ("model.predict(x[300:], verbose=0)[:, 0] > 0.5", False)])
def test_the_largest_of_one_number(tmp_path: Path, classes: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, ONE_NUMBER.replace("CLASSES", classes), probe_seconds=0.5)
    assert any(call.cut is not None for call in seen.evaluation.metrics), seen.warnings
    assert ("E501" in found(seen)) is wrong, seen.evaluation.metrics


SEVERAL = """
import keras, numpy as np
from sklearn.metrics import accuracy_score
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 6)).astype("float32")
y = {"sum": x.sum(1), "high": (x[:, 0] + x[:, 1] > 0).astype("int64")}
inputs = keras.Input((6,))
hidden = keras.layers.Dense(16, activation="relu")(inputs)
model = keras.Model(inputs, {"sum": keras.layers.Dense(1)(hidden), "high": keras.layers.Dense(1, activation="sigmoid")(hidden)})
model.compile(keras.optimizers.Adam(1e-2), {"sum": "mse", "high": "binary_crossentropy"})
model.fit(x[:300], {name: values[:300] for name, values in y.items()}, epochs=6, verbose=0)
made = model.predict(x[300:], verbose=0)
print(accuracy_score(y["high"][300:], CLASSES))
"""


@pytest.mark.parametrize(("classes", "wrong"), [('np.argmax(made["high"], axis=1)', True), ('made["high"][:, 0] > 0.5', False)])
def test_the_largest_of_one_number_of_several_outputs(tmp_path: Path, classes: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, SEVERAL.replace("CLASSES", classes), probe_seconds=0.5)
    assert ("E501" in found(seen)) is wrong, seen.evaluation.metrics


def test_scores_that_are_cut_in_a_metric_of_a_trainer() -> None:
    seen = healthy()
    given = TensorFacts(shape=(40, 1), dtype="float32")
    call = MetricFacts(name="compute_metrics", predictions=given, reference_counts={"0": 22, "1": 18}, values={"accuracy": 0.55}, cut=0.9)
    seen.evaluation.metrics = [call]
    assert "the class of the largest is taken" in finding("E501", seen).message
    call.values = {"accuracy": 0.9}
    assert judge("E501", seen) == "clean"
    call.values, call.cut = {"accuracy": 0.55}, 0.55  # a model that says one class for all rows, whatever is done with it
    assert judge("E501", seen) == "clean"
