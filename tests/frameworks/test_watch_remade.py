"""Optimizers that are made anew for every step, in both frameworks; those that last, or take turns, are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import HEAD, found, watch

LOOP = """
BEFORE
for epoch in range(2):
    for xb, yb in train:
        INSIDE
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 6)).astype("float32")
y = x[:, :1] * 2
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(xb, training=True) - yb) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    INSIDE
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
ANEW = "optimizer = torch.optim.Adam(model.parameters(), 1e-2)"


@pytest.mark.parametrize(("before", "inside", "codes"), [("", ANEW, ["S409"]), (ANEW, "", [])])
def test_torch(tmp_path: Path, before: str, inside: str, codes: list[str]) -> None:
    seen = watch(tmp_path, HEAD + LOOP.replace("BEFORE", before).replace("INSIDE", inside))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [code for code in found(seen) if code == "S409"] == codes
    assert seen.optimizer is not None
    assert seen.optimizer.site is not None
    assert not codes or seen.optimizer.site.source == ANEW


@pytest.mark.parametrize(("inside", "codes"), [("optimizer = keras.optimizers.Adam(0.01)", ["S409"]), ("", [])])
def test_keras(tmp_path: Path, inside: str, codes: list[str]) -> None:
    seen = watch_keras(tmp_path, KERAS.replace("INSIDE", inside))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [code for code in found(seen) if code == "S409"] == codes
