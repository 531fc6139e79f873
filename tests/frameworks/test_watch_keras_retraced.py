"""Compiled steps that TensorFlow builds anew, for each number of Python that they are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found, walk

STEP = """
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(32, 4)).astype("float32")
y = x[:, :1]
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-2)
@tf.function
def step(x, y, weight):
    with tf.GradientTape() as tape:
        loss = weight * tf.reduce_mean((net(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss
for epoch in range(20):
    for _ in range(4):
        step(x, y, WEIGHT)
"""


@pytest.mark.parametrize(("weight", "wrong"), [
    ("1 - epoch / 40", True), ("tf.constant(1 - epoch / 40)", False), ("1.0 if epoch < 10 else 0.5", False)])
def test_a_number_that_changes_with_the_epoch(tmp_path: Path, weight: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, STEP.replace("WEIGHT", weight), steps=80, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("R602" in found(seen)) is wrong, seen.memory
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.code == "R602")
        assert finding is not None
        assert finding.site is not None
        assert "step(x, y" in finding.site.source
