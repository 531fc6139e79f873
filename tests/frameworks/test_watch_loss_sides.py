"""Losses that are given output and target the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.loss_facts import LossCall
from harness.checks.tensor_facts import TensorFacts
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch

HEAD = """
import keras, numpy as np, tensorflow as tf
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 6)).astype("float32")
y = rng.poisson(np.exp(0.5 * x[:, :1])).astype("float32")
inputs = keras.Input((6,))
outputs = keras.layers.Dense(1, activation="softplus")(keras.layers.Dense(16, activation="relu")(inputs))
loss_fn = keras.losses.LOSS()
"""
STEP = HEAD + """
class Model(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            made = self(x, training=True)
            loss = loss_fn(GIVEN)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
model = Model(inputs, outputs)
model.compile("adam")
model.fit(x, y, epochs=2, verbose=0)
"""
TAPE = HEAD + """
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(1e-3)
for epoch in range(2):
    for start in range(0, 320, 32):
        with tf.GradientTape() as tape:
            made, y_batch = model(x[start:start + 32], training=True), tf.constant(y[start:start + 32])
            y_ = y_batch
            loss = loss_fn(GIVEN)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
TORCH = """
import torch, torch.nn as nn
torch.manual_seed(0)
x = torch.randn(320, 6)
y = (x[:, 0] > 0).float()
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(2):
    for rows in torch.randperm(320).split(32):
        made = model(x[rows]).squeeze(1)
        loss = nn.functional.binary_cross_entropy(GIVEN)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("script", "first", "second"), [(STEP, "y", "made"), (TAPE, "y_", "made")])
@pytest.mark.parametrize(("loss", "exchanged", "wrong"), [
    ("Poisson", True, True), ("Poisson", False, False), ("MeanSquaredError", True, False)])
def test_keras(tmp_path: Path, script: str, first: str, second: str, loss: str, *, exchanged: bool, wrong: bool) -> None:
    pytest.importorskip("keras")
    given = f"{second}, {first}" if exchanged else f"{first}, {second}"
    seen = watch(tmp_path, script.replace("LOSS", loss).replace("GIVEN", given), probe_seconds=0.5)
    assert seen.loss_calls, seen.warnings
    assert ("L213" in found(seen)) is wrong, found(seen)
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "L213")
        assert told is not None
        assert told.site is not None
        assert "loss_fn(made" in told.site.source


SHARES = """
import keras, numpy as np
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 6)).astype("float32")
votes = (VOTES).astype("float32")
def vote_loss(y_true, y_pred):
    return keras.losses.LOSS
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3, activation="softmax")])
model.compile(keras.optimizers.Adam(1e-3), loss=vote_loss)
model.fit(x, votes, batch_size=32, epochs=2, verbose=0)
"""
SOME, ALL = "rng.multinomial(4, [0.5, 0.3, 0.2], 320) / 4", "rng.dirichlet([9, 9, 9], 320)"


@pytest.mark.parametrize(("votes", "loss", "wrong"), [
    (SOME, "kl_divergence(y_pred, y_true)", True), (SOME, "kl_divergence(y_true, y_pred)", False),
    (ALL, "kl_divergence(y_pred, y_true)", False),  # of shares above 0 a divergence of its own
    (SOME, "mean_squared_error(y_pred, y_true)", False), (SOME, "categorical_crossentropy(y_pred, y_true)", True)])
def test_a_loss_of_its_own(tmp_path: Path, votes: str, loss: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, SHARES.replace("VOTES", votes).replace("LOSS", loss), probe_seconds=0.5)
    assert ("L213" in found(seen)) is wrong, found(seen)
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "L213")
        assert told is not None
        assert told.site is not None
        assert told.site.source == f"return keras.losses.{loss}"


@pytest.mark.parametrize(("given", "wrong"), [("y[rows], made", True), ("made, y[rows]", False)])
def test_torch(tmp_path: Path, given: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("GIVEN", given), probe_seconds=0.5)
    assert seen.loss_calls, seen.warnings
    assert ("L213" in found(seen)) is wrong, found(seen)


def test_losses_for_which_both_are_one() -> None:
    seen = healthy()
    made, wanted = (TensorFacts(shape=(8,), dtype="float32", requires_grad=grad) for grad in (True, False))
    for name, verdict in (("mse", "clean"), ("kl", "clean"), ("bce", "found")):
        seen.loss_calls = [LossCall(name=name, inputs=wanted, target=made)]
        assert judge("L213", seen) == verdict, name
    assert "PyTorch wants the output first" in finding("L213", seen).remedy
