"""Loops with a tape over variables of the script's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

SCRIPT = """
import numpy as np, tensorflow as tf
tf.random.set_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 5)).astype("float32")
y = (x[:, 0] - 2 * x[:, 1]).astype("float32")
W1, b1 = tf.Variable(tf.random.normal((5, 16), stddev=0.4)), tf.Variable(tf.zeros(16))
W2, b2 = tf.Variable(tf.random.normal((16, 1), stddev=0.4)), tf.Variable(tf.zeros(1))
weights = [W1, b1, W2, b2]
SETUP
for epoch in range(3):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(320).batch(32):
        with tf.GradientTape() as tape:
            made = tf.nn.tanh(xb @ W1 + b1) @ W2 + b2
            loss = tf.reduce_mean((MADE - yb) ** 2)
        gradients = tape.gradient(loss, weights)
        STEP
"""
BY_HAND = "[weight.assign_sub(0.05 * gradient) for weight, gradient in zip(weights, gradients)]"
OPTIMIZER = "optimizer.apply_gradients(zip(gradients, weights))"


@pytest.mark.parametrize(("setup", "step"), [("", BY_HAND), ("import keras; optimizer = keras.optimizers.SGD(0.05)", OPTIMIZER)])
@pytest.mark.parametrize(("made", "wrong"), [("made", True), ("made[:, 0]", False)])
def test_steps_without_a_model(tmp_path: Path, setup: str, step: str, made: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    script = SCRIPT.replace("SETUP", setup).replace("STEP", step).replace("MADE", made)
    seen = watch(tmp_path, script, probe_seconds=0.5)
    assert 20 <= len(seen.steps) <= 30, (len(seen.steps), seen.warnings)
    assert all(step.backwards == 1 for step in seen.steps)
    assert ("L203" in found(seen)) is wrong, found(seen)
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "L203")
        assert told is not None
        assert told.site is not None
        assert "tf.reduce_mean" in told.site.source


LAYERS = """
import keras, numpy as np, tensorflow as tf
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 5)).astype("float32")
y = (x[:, 0] - 2 * x[:, 1]).astype("float32")
first, last = keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)
bias = tf.Variable(0.0)
BUILD
weights = first.trainable_variables + last.trainable_variables + [bias]
optimizer = keras.optimizers.Adam(1e-2)
for epoch in range(3):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(320).batch(32):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((last(first(xb))[:, 0] + bias - yb) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""


@pytest.mark.parametrize(("build", "wrong"), [("", True), ("first.build((None, 5)), last.build((None, 16))", False)])
def test_layers_that_are_built_after_their_weights_were_listed(tmp_path: Path, build: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, LAYERS.replace("BUILD", build), probe_seconds=0.5)
    assert seen.steps, seen.warnings
    assert ("G303" in found(seen)) is wrong, seen.unasked
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "G303")
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith("weights = ")
        assert "4 variables" in told.message


WIDE = """
import numpy as np, tensorflow as tf
tf.random.set_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 40)).astype("float32")
y = np.argmax(x[:, :6], axis=1)
def matrix(before, after):
    return tf.Variable(tf.random.normal((before, after), stddev=STDDEV))
weights = [matrix(40, 64), matrix(64, 64), matrix(64, 6)]
for epoch in range(3):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).batch(32):
        with tf.GradientTape() as tape:
            logits = tf.nn.tanh(tf.nn.tanh(xb @ weights[0]) @ weights[1]) @ weights[2]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=logits))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(0.005 * gradient)
"""


@pytest.mark.parametrize(("stddev", "wrong"), [("1.0", True), ("before ** -0.5", False)])
def test_weights_that_are_drawn_too_wide(tmp_path: Path, stddev: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, WIDE.replace("STDDEV", stddev), probe_seconds=0.5)
    assert (found(seen) == ["L204"]) is wrong, (found(seen), seen.wide)
    assert seen.wide is not None
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "L204")
        assert told is not None
        assert told.site is not None
        assert "tf.random.normal" in told.site.source
