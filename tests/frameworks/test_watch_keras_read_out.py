"""What a loop reads out of its tape's sight, and what it reads without harm."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import watch

SCRIPT = """
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import MODULE as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(480, 6)).astype("float32")
labels, wanted = (x[:, 0] > 0).astype("int32"), x[:, 1:2] + x[:, 2:3] + x[:, 2:3]
given = keras.Input((6,))
hidden = keras.layers.Dense(16, activation="relu")(given)
model = keras.Model(given, [keras.layers.Dense(2)(hidden), keras.layers.Dense(1)(keras.layers.Dense(8, activation="relu")(hidden))])
optimizer = keras.optimizers.Adam(1e-2)
for epoch in range(4):
    for start in range(0, 480, 32):
        rows = slice(start, start + 32)
        with tf.GradientTape() as tape:
            logits, numbers = model(x[rows], training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels[rows], logits))
            LINE
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients([pair for pair in zip(gradients, model.trainable_variables) if pair[0] is not None])
"""


@pytest.mark.parametrize("module", ["keras", "tf_keras"])
@pytest.mark.parametrize(("line", "fault"), [
    ("loss += 0.5 * np.mean((numbers.numpy() - wanted[rows]) ** 2)", True),
    ("loss += tf.reduce_mean((numbers - wanted[rows]) ** 2) * (1 + 0 * float(tf.reduce_mean(numbers)))", False),
    ("shown = float(loss)", False), ("apart = tf.reduce_mean((numbers - wanted[rows]) ** 2)", False)],
    ids=["numpy", "a factor", "shown", "apart"])
def test_read_under_a_tape(tmp_path: Path, module: str, line: str, *, fault: bool) -> None:
    """A term of the loss that NumPy has worked out, and numbers that are read beside one that has a way back."""
    seen = watch(tmp_path, SCRIPT.replace("MODULE", module).replace("LINE", line))
    found = {result.code: result.finding for result in walk(seen) if result.state == "found"}
    assert ("G302" in found) is fault
    if fault:
        assert found["G302"] is not None
        assert found["G302"].site is not None
        assert found["G302"].site.source == line
