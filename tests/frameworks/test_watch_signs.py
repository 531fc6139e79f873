"""Loss functions that go backward with a minus, and models that learn the contrary."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import FAILED, Finding, walk
from harness.checks.observation import Observation
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import HEAD, LOOP, watch


def found(seen: Observation) -> Finding | None:
    results = walk(seen)
    assert not [result for result in results if (result.reason or "").startswith(FAILED)]
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    return next((result.finding for result in results if result.code == "L216"), None)


OWN = HEAD + """
for epoch in range(8):
    for xb, yb in train:
        out = model(xb)
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
TURNED = ["-F.cross_entropy(out, yb)", "1 - F.nll_loss(torch.log_softmax(out, 1), yb)",
          "-F.cross_entropy(out, yb, reduction='none').mean()",
          "-0.5 * F.mse_loss(out[:, 0], xb[:, 0])", "torch.log_softmax(out, 1)[torch.arange(len(yb)), yb].mean()",
          "-F.cross_entropy(out, yb) - 0.1 * F.mse_loss(out[:, 0], xb[:, 0])"]
RIGHT = ["F.cross_entropy(out, yb)", "-torch.log_softmax(out, 1)[torch.arange(len(yb)), yb].mean()",
         "F.cross_entropy(out, yb) - 0.01 * F.mse_loss(out[:, 0], out[:, 1])", "(F.cross_entropy(out, yb) - 5)",
         "(F.cross_entropy(out, yb, reduction='none') * torch.randn(len(yb))).mean()"]


@pytest.mark.parametrize("loss", TURNED)
def test_a_loss_that_is_made_larger(tmp_path: Path, loss: str) -> None:
    finding = found(watch(tmp_path, OWN.replace("LOSS", loss), steps=120))
    assert finding is not None
    assert finding.site is not None
    assert loss.split("(", maxsplit=1)[0] in finding.site.source or "log_softmax" in loss


@pytest.mark.parametrize("loss", RIGHT)
def test_losses_that_are_made_smaller(tmp_path: Path, loss: str) -> None:
    assert found(watch(tmp_path, OWN.replace("LOSS", loss), steps=120)) is None


def test_the_usual_loop(tmp_path: Path) -> None:
    assert found(watch(tmp_path, HEAD + LOOP)) is None


FIT = """
import numpy as np, tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
x = np.random.randn(640, 6).astype("float32")
y = x @ np.random.randn(6, 4).astype("float32")
cosine = keras.losses.CosineSimilarity()
def loss(y_true, y_pred):
    return LOSS
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
"""
COMPILED = "model.compile(keras.optimizers.Adam(0.01), loss)\nmodel.fit(x, y, batch_size=16, epochs=2, verbose=0)\n"
TAPE = """
optimizer = keras.optimizers.Adam(0.01)
for at in range(0, 640, 16):
    with tf.GradientTape() as tape:
        value = loss(y[at:at + 16], model(x[at:at + 16], training=True))
    optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
"""
LOSSES = {"-tf.reduce_mean(tf.square(y_true - y_pred))": True, "tf.reduce_mean(tf.square(y_true - y_pred)) - 3.0": False,
          "1.0 - cosine(y_true, y_pred)": True, "1.0 + cosine(y_true, y_pred)": False,
          "1.0 - keras.losses.cosine_similarity(y_true, y_pred)": True,
          "keras.losses.cosine_similarity(y_true, y_pred)": False, "-keras.losses.mean_squared_error(y_true, y_pred)": True,
          "keras.losses.mean_squared_error(y_true, y_pred) + cosine(y_true, y_pred)": False}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("name", "rest"), [("keras", COMPILED), ("tf_keras", COMPILED), ("keras", TAPE)])
def test_keras(tmp_path: Path, name: str, rest: str, loss: str) -> None:
    if rest is TAPE:
        if "tf." in loss:
            return  # written out by hand, a tape shows nothing of it
        rest = rest.replace("value = loss(", "value = tf.reduce_mean(loss(").replace("training=True))", "training=True)))")
    finding = found(small.watch(tmp_path, FIT.replace("NAME", name).replace("LOSS", loss) + rest, steps=40))
    assert (finding is not None) is LOSSES[loss]
    if finding is not None:
        assert finding.site is not None
        assert finding.site.source == f"return {loss}"
