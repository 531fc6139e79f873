"""One score of several for each row, `(N, 1)`, beside targets of `(N,)` that a loop of Keras makes itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

AGENT = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
state, following = rng.normal(size=(2, 640, 6)).astype("float32")
action, reward = rng.integers(0, 3, 640).astype("int32"), (state[:, 0] > 0).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(0.01)

@tf.function
def step(xb, ab, rb, nb):
    goal = rb + 0.9 * tf.reduce_max(model(nb), axis=1)
    with tf.GradientTape() as tape:
        scores = model(xb, training=True)
        taken = TAKEN
        loss = LOSS
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss

for at in range(0, 640, 32):
    step(state[at:at + 32], action[at:at + 32], reward[at:at + 32], following[at:at + 32])
"""
SUM, COLUMN = "tf.reduce_sum(scores * tf.one_hot(ab, 3), axis=1, keepdims=True)", "tf.gather(scores, ab[:, None], batch_dims=1)"
SQUARE, BOTH = "tf.reduce_mean((goal - taken) ** 2)", "tf.reduce_mean((goal[:, None] - taken) ** 2)"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("taken", "loss", "fault"), [
    (SUM, SQUARE, True), (SUM, "tf.reduce_mean(tf.square(taken - goal))", True), (COLUMN, SQUARE, True),
    (SUM.replace(", keepdims=True", ""), "tf.reduce_mean((goal[:, None] - taken) ** 2)", True),
    (SUM.replace(", keepdims=True", ""), SQUARE, False), (SUM, BOTH, False), (COLUMN.replace("ab[:, None]", "ab"), SQUARE, False)])
def test_a_table_of_all_pairs(tmp_path: Path, name: str, taken: str, loss: str, *, fault: bool) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, AGENT.replace("TAKEN", taken).replace("LOSS", loss).replace("NAME", name), probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("L203" in found(seen)) is fault, seen.broadcasts
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "L203")
        assert told is not None
        assert "(32, 32)" in told.message
        assert told.site is not None
        assert told.site.source == f"loss = {loss}"
