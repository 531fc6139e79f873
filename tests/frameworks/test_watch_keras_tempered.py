"""Distillation in a `train_step` of Keras: the temperatures of both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import found

STEP = """
def net(width):
    return keras.Sequential([keras.Input((10,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(4)])
class Distiller(keras.Model):
    def __init__(self):
        super().__init__()
        self.teacher, self.student, self.heat = net(32), net(8), 5.0
        self.teacher.trainable = False
    def call(self, x, training=False):
        return self.student(x, training=training)
    def train_step(self, data):
        x, y = data
        t = self.teacher(x, training=False)
        with tf.GradientTape() as tape:
            s = self.student(x, training=True)
            soft = SOFT
            loss = 0.1 * keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, s) + soft
        weights = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {"loss": loss}
model = Distiller()
model.compile(keras.optimizers.Adam(0.01))
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("keras", small.KERAS)
@pytest.mark.parametrize(("soft", "temperatures"), [
    ("keras.losses.KLDivergence()(tf.nn.softmax(t / self.heat), tf.nn.softmax(s))", (1.0, 5.0)),
    ("-tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(t / self.heat) * tf.nn.log_softmax(s), -1))", (1.0, 5.0)),
    ("tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(t), 0.5 * s))", (2.0, 1.0)),
    ("keras.losses.KLDivergence()(tf.nn.softmax(t / self.heat), tf.nn.softmax(s / self.heat)) * 25", None),
    ("tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(t), s))", None),
    ("0.01 * tf.reduce_mean((s - t) ** 2)", None)])
def test_a_step_of_its_own(tmp_path: Path, keras: str, soft: str, temperatures: tuple[float, float] | None) -> None:
    seen = small.watch(tmp_path, small.HEAD.replace("NAME", keras) + STEP.replace("SOFT", soft))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert found(seen) == (["L215"] if temperatures else [])
    if temperatures:
        assert seen.tempered is not None
        assert seen.tempered.temperatures == [pytest.approx(temperatures)]
        assert seen.tempered.site is not None
        assert seen.tempered.site.source.startswith("soft =")


TOWERS = """
import numpy as np, tensorflow as tf, keras
rng = np.random.default_rng(0)
kinds = rng.integers(0, 200, 1280)
a, b = (rng.normal(size=(200, 16))[kinds].astype("float32") + 0.1 * rng.normal(size=(1280, 16)).astype("float32") for _ in range(2))
class Towers(keras.Model):
    def __init__(self):
        super().__init__()
        self.one, self.other = keras.layers.Dense(16), keras.layers.Dense(16)
    def call(self, inputs):
        return NORMALISED(self.one(inputs[0])), NORMALISED(self.other(inputs[1]))
    def train_step(self, data):
        with tf.GradientTape() as tape:
            one, other = self(data[0], training=True)
            scores = SCORES
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(tf.range(64), scores, from_logits=True))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
model = Towers()
model.compile(keras.optimizers.Adam(1e-3))
model.fit(tf.data.Dataset.from_tensor_slices(((a, b),)).shuffle(1280).batch(64, drop_remainder=True), epochs=3, verbose=0)
"""
TF, OPS, PLAIN = "(lambda v: tf.math.l2_normalize(v, -1))", "(lambda v: v / tf.norm(v, axis=-1, keepdims=True))", "(lambda v: v)"


@pytest.mark.parametrize(("normalised", "scores", "fault"), [
    (TF, "tf.matmul(one, other, transpose_b=True) * 0.1", True), (OPS, "one @ tf.transpose(other)", True),
    ("keras.layers.UnitNormalization()", "keras.ops.matmul(one, keras.ops.transpose(other)) * 0.07", True),
    (TF, "tf.matmul(one, other, transpose_b=True) / 0.1", False), (PLAIN, "tf.matmul(one, other, transpose_b=True) * 0.1", False)])
def test_cosines_for_logits(tmp_path: Path, normalised: str, scores: str, *, fault: bool) -> None:
    seen = small.watch(tmp_path, TOWERS.replace("NORMALISED", normalised).replace("SCORES", scores))
    assert seen.exception is None, seen.exception
    assert ("L210" in found(seen)) == fault, seen.cosines
    if fault:
        assert seen.cosines is not None
        assert seen.cosines.site is not None
        assert seen.cosines.site.source == f"scores = {scores}"
