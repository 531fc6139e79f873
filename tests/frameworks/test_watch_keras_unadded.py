"""Losses that layers of Keras bring with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

TEXT = """
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
X = np.random.default_rng(0).normal(size=(160, 10)).astype("float32")
y = (X[:, 0] > 0).astype("int32")
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-2)
layers = [keras.Input((10,)), keras.layers.Dense(16, activation="relu", kernel_regularizer=KIND), keras.layers.Dense(2)]
"""
LOOP = """
model = keras.Sequential(layers)
for epoch in range(3):
    for at in range(0, 160, 16):
        with tf.GradientTape() as tape:
            loss = loss_of(y[at:at + 16], model(X[at:at + 16], training=True))ADDED
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
STEP = """
class Own(keras.Sequential):
    def train_step(self, data):
        x, label = data
        with tf.GradientTape() as tape:
            loss = loss_of(label, self(x, training=True))ADDED
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
model = Own(layers)
model.compile(optimizer=optimizer)
model.fit(X, y, batch_size=16, epochs=3, verbose=0)
"""
FIT = """
model = keras.Sequential(layers)
model.compile(optimizer, loss_of)
model.fit(X, y, batch_size=16, epochs=3, verbose=0)
with tf.GradientTape() as tape:
    seen = tf.constant(X[:1])
    tape.watch(seen)
    answer = model(seen)[0, 0]
print(tape.gradient(answer, seen))
"""


@pytest.mark.parametrize(("text", "kind", "added", "codes"), [
    (LOOP, "keras.regularizers.L2(1e-3)", "", ["L223"]),
    (STEP, "keras.regularizers.L1(1e-3)", "", ["L223"]),
    (LOOP, "keras.regularizers.L2(1e-3)", " + sum(model.losses)", []),
    (STEP, "keras.regularizers.L2(1e-3)", " + tf.add_n(self.losses)", []),
    (LOOP, "None", "", []),
    (FIT, "keras.regularizers.L2(1e-3)", "", [])])
def test_regularizers(tmp_path: Path, text: str, kind: str, added: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TEXT.replace("KIND", kind) + text.replace("ADDED", added))
    assert found(seen) == codes
    if codes:
        assert seen.unadded is not None
        assert len(seen.unadded.kinds) == 1
