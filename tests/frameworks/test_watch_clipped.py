"""Losses that clip what they are given as if it were a probability: PyTorch, loops with a tape, and `fit`."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

FOCAL = """
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
class Focal(nn.Module):
    def forward(self, p, y):
        p = p.clamp(1e-6, 1 - 1e-6)
        return -(y * (1 - p) ** 2 * torch.log(p) + (1 - y) * p ** 2 * torch.log(1 - p)).mean()
focal = Focal()
for epoch in range(2):
    for xb, yb in train:
        optimizer.zero_grad()
        loss = focal(OUTPUT.squeeze(1), yb.float())
        loss.backward()
        optimizer.step()
"""
KERAS = """
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
x = np.random.randn(512, 10).astype("float32")
y = (x[:, :1] + x[:, 1:2] > 0).astype("float32")
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1ACTIVATION)])
def focal(true, pred):
    p = CLIP
    return -tf.reduce_mean(true * (1 - p) ** 2 * tf.math.log(p) + (1 - true) * p ** 2 * tf.math.log(1 - p))
"""
TAPE = """
optimizer = keras.optimizers.Adam(0.01)
for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(16):
    with tf.GradientTape() as tape:
        loss = focal(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
FIT = """
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=focal)
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


def test_a_focal_loss_that_is_given_logits(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + FOCAL.replace("OUTPUT", "model(xb)"))
    first = next(result for result in walk(seen) if result.state == "found")
    assert first.code == "L206"
    assert first.finding is not None
    assert first.finding.site is not None
    assert first.finding.site.source == "p = p.clamp(1e-6, 1 - 1e-6)"


@pytest.mark.parametrize("output", ["torch.sigmoid(model(xb))", "model(xb).sigmoid() * (1 + 1e-3)"])
def test_a_focal_loss_that_is_given_probabilities(output: str, tmp_path: Path) -> None:
    assert "L206" not in found(watch(tmp_path, HEAD + FOCAL.replace("OUTPUT", output)))


@pytest.mark.parametrize("way", [TAPE, FIT], ids=["tape", "fit"])
@pytest.mark.parametrize("clip", ["tf.clip_by_value(pred, 1e-6, 1 - 1e-6)", "keras.ops.clip(pred, 1e-6, 1 - 1e-6)"])
def test_a_focal_loss_of_keras(clip: str, way: str, tmp_path: Path) -> None:
    pytest.importorskip("keras")
    text = KERAS.replace("CLIP", clip) + way
    seen = test_watch_keras.watch(tmp_path, text.replace("ACTIVATION", ""))
    first = next(result for result in walk(seen) if result.state == "found")
    assert first.code == "L206"
    assert first.finding is not None
    assert first.finding.site is not None
    assert first.finding.site.source.startswith("p = ")
    assert "L206" not in found(test_watch_keras.watch(tmp_path, text.replace("ACTIVATION", ", activation='sigmoid'")))
