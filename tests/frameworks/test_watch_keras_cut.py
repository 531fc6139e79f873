"""Scores of each step that a loop with a tape cuts into other pieces, where it should have exchanged their axes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

TEXT = """
import keras, numpy as np, tensorflow as tf
from keras import layers
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
ids = rng.integers(0, 12, (400, 6)).astype("int32")
tags = (ids % 3).astype("int32")
model = keras.Sequential([keras.Input((6,), dtype="int32"), layers.Embedding(12, 16), layers.Dense(32, activation="relu"), layers.Dense(3)])
optimizer = keras.optimizers.Adam(0.01)
GRAPH
def step(x, y):
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        scores = MADE
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(y, 3, axis=1), scores, axis=1))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for epoch in range(2):
    for x, y in tf.data.Dataset.from_tensor_slices((ids, tags)).shuffle(400).batch(20):
        step(x, y)
"""


@pytest.mark.parametrize("graph", ["", "@tf.function"])
@pytest.mark.parametrize(("made", "codes"), [
    ("tf.reshape(scores, (-1, 3, 6))", ["L203"]), ("tf.transpose(scores, [0, 2, 1])", []),
    ("tf.transpose(tf.reshape(scores, (-1, 6, 3)), [0, 2, 1])", [])])
def test_axes(tmp_path: Path, graph: str, made: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TEXT.replace("GRAPH", graph).replace("MADE", made))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [code for code in found(seen) if code == "L203"] == codes
    if codes:
        assert seen.broadcasts[0].cut_from == [20, 6, 3]
