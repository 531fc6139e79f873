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


def test_numbers_that_are_wanted_as_they_are(tmp_path: Path) -> None:
    """Of a mask that is drawn in numbers no answer beyond 1 is more right than 1."""
    drawn = HEAD.replace("y = (X[:, 0] + X[:, 1] > 0).long()", "y = (X[:, :2] > 0).float()") + OWN.removeprefix(HEAD)
    assert found(watch(tmp_path, drawn.replace("LOSS", "F.mse_loss(out, yb)"), steps=120)) is None


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


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
def test_numbers_that_are_missing(tmp_path: Path, name: str) -> None:
    """A usual loss of what is not there is no number, and tells no sign."""
    masked = "tf.reduce_mean(tf.where(tf.math.is_nan(y_true), 0.0, tf.square(tf.where(tf.math.is_nan(y_true), 0.0, y_true) - y_pred)))"
    text = FIT.replace("NAME", name).replace("LOSS", masked) + "y[np.random.rand(640, 4) < 0.5] = np.nan\n" + COMPILED
    assert found(small.watch(tmp_path, text, steps=40)) is None


MASKS = """
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(320, 1, 12, 12)
Y = (F.avg_pool2d(X, 3, 1, 1) > 0.45).float()
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
def dice(p, y):
    return ((2 * (p * y).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)).mean()
for epoch in range(2):
    for at in range(0, 320, 16):
        out, y = net(X[at:at + 16]), Y[at:at + 16]
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
WANTED = {"0.3 * F.binary_cross_entropy_with_logits(out, y) + dice(torch.sigmoid(out), y)": True,
          "0.3 * F.binary_cross_entropy_with_logits(out, y) + 1 - dice(torch.sigmoid(out), y)": False,
          "dice(torch.sigmoid(out), y)": True, "1 - dice(torch.sigmoid(out), y)": False,
          "F.binary_cross_entropy_with_logits(out, y, pos_weight=torch.tensor(9.0))": False}


@pytest.mark.parametrize("loss", WANTED)
def test_what_a_loss_makes_of_right_answers(tmp_path: Path, loss: str) -> None:
    seen = watch(tmp_path, MASKS.replace("LOSS", loss))
    assert seen.probes.contrary is not None
    assert (found(seen) is not None) is WANTED[loss]


CLASSES = {"0.9 * F.cross_entropy(out, yb) + 0.1 * F.cross_entropy(out, yb.flip(0))": False,  # two targets, as of rows that are mixed
           "F.cross_entropy(-(out - 1) ** 2, yb)": False, "F.cross_entropy(out, yb, label_smoothing=0.3)": False}


@pytest.mark.parametrize("loss", CLASSES)
def test_losses_that_want_something_between(tmp_path: Path, loss: str) -> None:
    assert (found(watch(tmp_path, OWN.replace("LOSS", loss))) is not None) is CLASSES[loss]
