"""Numbers that are drawn from the same seed at every step, and draws that are meant to repeat."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import watch

HEAD = """
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 8)).astype("float32")
net = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(8)])
optimizer = keras.optimizers.Adam(1e-2)
"""
FIT = HEAD + """
class Denoiser(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = net
        self.generator = keras.random.SeedGenerator(3)
    def call(self, x):
        return self.net(x)
    def train_step(self, clean):
        noisy = clean + 0.5 * NOISE
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(noisy, training=True) - clean) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
    def test_step(self, clean):
        noisy = clean + 0.5 * keras.random.normal(tf.shape(clean), seed=5)
        return {"loss": tf.reduce_mean((self(noisy, training=False) - clean) ** 2)}
model = Denoiser()
model.compile(optimizer=optimizer)
model.fit(x, epochs=3, batch_size=32, verbose=0)
model.evaluate(x, verbose=0)
"""
LOOP = HEAD + """
@tf.function
def score():
    noisy = x + 0.5 * tf.random.stateless_normal(tf.shape(x), seed=(1, 2))
    return tf.reduce_mean((net(noisy, training=False) - x) ** 2)
for epoch in range(4):
    for step, clean in enumerate(tf.data.Dataset.from_tensor_slices(x).batch(32)):
        noisy = clean + 0.5 * NOISE
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(noisy, training=True) - clean) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    print(float(score()))
"""
MAP = HEAD + """
data = tf.data.Dataset.from_tensor_slices(x).map(lambda row: (row + 0.5 * NOISE, row)).batch(32)
net.compile(optimizer, "mse")
net.fit(data, epochs=3, verbose=0)
"""


@pytest.mark.parametrize(("text", "noise", "fault"), [
    (FIT, "keras.random.normal(tf.shape(clean), seed=7)", True), (FIT, "keras.random.normal(tf.shape(clean))", False),
    (FIT, "keras.random.normal(tf.shape(clean), seed=self.generator)", False), (FIT, "keras.random.normal((8,), seed=7)", False),
    (LOOP, "tf.random.stateless_normal(clean.shape, seed=(7, 7))", True), (LOOP, "tf.random.stateless_normal((8,), seed=(7, 7))", False),
    (LOOP, "tf.random.stateless_normal(clean.shape, seed=(7, epoch * 20 + step))", False),
    (LOOP, "tf.random.normal(clean.shape, seed=7)", False),
    (MAP, "tf.image.stateless_random_crop(row[None, :, None], (1, 8, 1), tf.cast(row[:2] * 9, 'int32'))[0, :, 0]", False),
    (MAP, "tf.random.stateless_normal((8,), (7, 7))", True), (MAP, "tf.random.stateless_normal((8,), seed=(7, 7))", True),
    (MAP, "tf.random.normal((8,), seed=7)", False)])
def test_one_seed_for_all_batches(tmp_path: Path, text: str, noise: str, *, fault: bool) -> None:
    """A whole number, and not a generator that moves on; for the rows of a batch, and not for what all of them share; in training."""
    found = {result.code: result.finding for result in walk(watch(tmp_path, text.replace("NOISE", noise))) if result.state == "found"}
    assert ("D109" in found) is fault
    if fault:
        assert found["D109"] is not None
        assert found["D109"].site is not None
        assert noise.split("(", maxsplit=1)[0] in found["D109"].site.source
