"""What comes late in a training: it goes on at full speed for a while, where nothing was found."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.observation import Observation
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import HEAD, found, watch

TORCH = """
for epoch in range(12):
    for xb, yb in train:
        optimizer.zero_grad()
        out = model(xb)
        BEFORE
        loss = F.cross_entropy(out, yb)
        loss.backward()
        optimizer.step()
    AFTER
"""
KERAS = """
import numpy as np
import keras
keras.utils.set_random_seed(0)
x = np.random.randn(640, 10).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int64")
class Late(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 9:
            AFTER
class Head(keras.layers.Layer):
    def build(self, shape):
        self.steps = self.add_weight(shape=(), initializer="zeros", trainable=False)
    def call(self, inputs):
        self.steps.assign_add(1.0)
        return inputs BEFORE
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), Head(), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=12, verbose=0, callbacks=[Late()])
"""


def watched(folder: Path, framework: str, before: str = "pass", after: str = "pass", seconds: float = 30.0) -> Observation:
    """`before` a loss (of Keras: what is made of the hidden layer), `after` an epoch."""
    pytest.importorskip(framework)
    text, run = (HEAD + TORCH, watch) if framework == "torch" else (KERAS, watch_keras)
    if framework == "keras" and before == "pass":
        before = ""
    return run(folder, text.replace("BEFORE", before).replace("AFTER", after), seconds=60, onward_seconds=seconds)


@pytest.mark.parametrize(("framework", "after"), [
    ("torch", "print(model.weights) if epoch == 9 else None"), ("keras", "print(self.model.optimiser)")])
def test_an_exception_of_a_late_epoch(tmp_path: Path, framework: str, after: str) -> None:
    seen = watched(tmp_path, framework, after=after)
    assert seen.exception is not None
    assert seen.exception.type == "AttributeError"
    assert seen.truncated_at is None
    assert found(seen)
    assert watched(tmp_path, framework, after=after, seconds=0.0).truncated_at is not None


def test_a_last_batch_that_does_not_fit(tmp_path: Path) -> None:
    text = HEAD.replace("X[:320], y[:320]), batch_size=16", "X[:310], y[:310]), batch_size=16").replace(
        "return self.b(self.drop(torch.relu(self.a(x))))", "return self.b(torch.relu(self.a(x)).view(16, 32))")
    text = text.replace("X = torch.randn(400, 10)", "X = torch.randn(2400, 10)").replace("310", "2006")
    pytest.importorskip("torch")
    seen = watch(tmp_path, text + TORCH.replace("BEFORE", "pass").replace("AFTER", "pass"), seconds=60, onward_seconds=30.0)
    assert len(seen.steps) < 30
    assert found(seen) == ["F103"]


@pytest.mark.parametrize(("framework", "before"), [
    ("torch", "out = torch.log(out.softmax(1) - (0.4 if epoch == 9 else 0.0))"),
    ("keras", "+ keras.ops.log(keras.ops.relu(390.0 - self.steps)) * 1e-3")])
def test_a_loss_that_turns_bad_late(tmp_path: Path, framework: str, before: str) -> None:
    seen = watched(tmp_path, framework, before=before)
    assert len(seen.steps) < 60
    assert seen.stopped == "enough steps"
    assert found(seen) == ["L209"]
    assert [birth.step > 100 for birth in seen.births] == [True]
    assert seen.births[0].site is not None
    assert "log" in seen.births[0].name or "Head" in seen.births[0].name


@pytest.mark.parametrize("framework", ["torch", "keras"])
def test_a_healthy_training_comes_to_its_own_end(tmp_path: Path, framework: str) -> None:
    seen = watched(tmp_path, framework)
    assert seen.stopped == "finished"
    assert seen.truncated_at is None
    assert found(seen) == []
    assert watched(tmp_path, framework, seconds=0.0).truncated_at is not None


def test_a_loop_without_a_loader_ends_after_its_evaluation(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = HEAD + """
for epoch in range(100000):
    model.train()
    for rows in torch.randperm(320).split(16):
        optimizer.zero_grad()
        F.cross_entropy(model(X[rows]), y[rows]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(X[320:]).argmax(1) == y[320:]).float().mean()
"""
    seen = watch(tmp_path, text, seconds=60, further_seconds=0.2)
    assert seen.stopped == "enough steps"
    assert found(seen) == []
