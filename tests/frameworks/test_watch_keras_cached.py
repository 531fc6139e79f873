"""`tf.data` caches behind functions that draw."""

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
X = np.random.default_rng(0).normal(size=(256, 12)).astype("float32")
y = (X[:, 0] + X[:, 1] > 0).astype("int32")
def noisy(x, label):
    return x + tf.random.normal(tf.shape(x), stddev=0.1), label
def scaled(x, label):
    return 0.5 * x, label
def flipped(x, label):
    return tf.where(tf.random.uniform(()) < 0.5, x[::-1], x)[:12], label
def drawn(number):
    x = tf.random.normal((12,))
    return x, tf.cast(x[0] + x[1] > 0, tf.int32)
rows = tf.data.Dataset.from_tensor_slices((X, y))
model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-2)
data = DATA
"""
FIT = """
model.compile(optimizer, loss_of)
model.fit(data, epochs=EPOCHS, verbose=0)
"""
LOOP = """
for epoch in range(3):
    for x, label in data:
        with tf.GradientTape() as tape:
            loss = loss_of(label, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize(("data", "training", "codes"), [
    ("rows.map(noisy).cache().shuffle(256).batch(16)", FIT, ["D121"]),
    ("rows.map(scaled).map(flipped, num_parallel_calls=2).cache().shuffle(256).batch(16)", FIT, ["D121"]),
    ("rows.map(noisy).cache().shuffle(256).batch(16)", LOOP, ["D121"]),
    ("rows.map(scaled).cache().shuffle(256).map(noisy).batch(16)", FIT, []),
    ("rows.map(noisy).shuffle(256).batch(16)", FIT, []),
    ("rows.map(noisy).cache().shuffle(256).batch(16)", FIT.replace("EPOCHS", "1"), []),
    ("tf.data.Dataset.range(256).map(drawn).cache().shuffle(256).batch(16)", FIT, [])])
def test_what_is_drawn_before_a_cache(tmp_path: Path, data: str, training: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TEXT.replace("DATA", data) + training.replace("EPOCHS", "3"))
    assert found(seen) == codes
    if codes:
        cached = seen.loaders[0].cached
        assert cached is not None
        assert cached.site is not None
        assert cached.site.source.startswith("data = ")
