"""`tf.argmax` without an axis, of a model's scores: along the rows; an axis that is given is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

TEXT = """
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 6)).astype("float32")
y = np.eye(3, dtype="float32")[x[:, :3].argmax(1)]
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(0.01)
def right(labels, scores):
    return tf.reduce_mean(tf.cast(tf.equal(LARGEST), tf.float32))
for epoch in range(2):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(yb, model(xb, training=True)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    print(float(right(y[:40], model(x[:40], training=False))))
"""


@pytest.mark.parametrize(("largest", "codes"), [
    ("tf.argmax(scores), tf.argmax(labels)", ["E501"]), ("tf.math.argmax(scores), tf.math.argmax(labels)", ["E501"]),
    ("tf.argmax(scores, axis=-1), tf.argmax(labels, axis=-1)", []), ("tf.argmax(scores, 1), tf.argmax(labels, 1)", []),
    ("[tf.argmax(row) for row in scores], [tf.argmax(row) for row in labels]", [])])
def test_axes(tmp_path: Path, largest: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TEXT.replace("LARGEST", largest))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert found(seen) == codes
