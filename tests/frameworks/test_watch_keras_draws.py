"""Draws of NumPy and Python inside what TensorFlow traces, and draws that are made anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("keras")

HEAD = """
import random
import keras
import numpy as np
import tensorflow as tf
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-2)
"""
MAPPED = HEAD + """
def scaled(row):
    return row + FACTOR
def noisy(row, label):
    return scaled(row), label
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(320).map(noisy).batch(16)
model.compile(optimizer=optimizer, loss=loss)
model.fit(data, epochs=2, verbose=0)
"""
LOOP = HEAD + """
DECORATED
def step(xb, yb):
    with tf.GradientTape() as tape:
        value = loss(yb, model(xb + NOISE, training=True))
    optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
    return value
for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat(2):
    step(xb, yb)
"""
LAYER = HEAD + """
class Noisy(keras.layers.Layer):
    def call(self, x, training=False):
        return x + NOISE if training else x
model = keras.Sequential([keras.Input((8,)), Noisy(), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer=optimizer, loss=loss, run_eagerly=EAGER)
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""
NUMPY, OWN, PYTHON = "np.random.normal(0, 0.1, 8).astype('float32')", "rng.normal(0, 0.1, 8).astype('float32')", "random.gauss(0, 0.1)"
TENSORFLOW = "tf.random.normal((8,), 0, 0.1)"
WRAPPED = "tf.ensure_shape(tf.numpy_function(lambda: np.random.normal(0, 0.1, 8).astype('float32'), [], tf.float32), (8,))"


def place(seen):
    return next(result.finding.site.source for result in walk(seen) if result.code == "D109" and result.finding and result.finding.site)


@pytest.mark.parametrize(("factor", "wrong"), [(NUMPY, True), (OWN, True), (PYTHON, True), (TENSORFLOW, False), (WRAPPED, False),
                                               ("x[0]", False)])
def test_in_a_map(tmp_path: Path, factor: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, MAPPED.replace("FACTOR", factor), probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert ("D109" in found(seen)) is wrong, seen.warnings
    if wrong:
        assert place(seen) == f"return row + {factor}"


@pytest.mark.parametrize(("decorated", "noise", "wrong"), [
    ("@tf.function", NUMPY, True), ("@tf.function", TENSORFLOW, False), ("# plain", NUMPY, False)])
def test_in_a_loop(tmp_path: Path, decorated: str, noise: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, LOOP.replace("DECORATED", decorated).replace("NOISE", noise), probe_seconds=0.0)
    assert seen.steps
    assert ("D109" in found(seen)) is wrong, seen.warnings


@pytest.mark.parametrize(("noise", "eager", "wrong"), [(NUMPY, False, True), (NUMPY, True, False), (TENSORFLOW, False, False)])
def test_in_a_layer(tmp_path: Path, noise: str, *, eager: bool, wrong: bool) -> None:
    seen = watch(tmp_path, LAYER.replace("NOISE", noise).replace("EAGER", str(eager)), probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert ("D109" in found(seen)) is wrong, seen.warnings


OBJECT = HEAD + """
class Learner:
    def __init__(self):
        self.rng = np.random.default_rng(1)
    @tf.function
    def step(self, xb, yb):
        with tf.GradientTape() as tape:
            value = loss(yb, model(xb + NOISE, training=True))
        optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
        return value
learner = Learner()
for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat(2):
    learner.step(xb, yb)
"""


@pytest.mark.parametrize(("noise", "wrong"), [("self.rng.normal(0, 0.1, 8).astype('float32')", True), (TENSORFLOW, False)])
def test_in_a_method(tmp_path: Path, noise: str, *, wrong: bool) -> None:
    """The generator is the object's own."""
    seen = watch(tmp_path, OBJECT.replace("NOISE", noise), probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert ("D109" in found(seen)) is wrong, seen.warnings
