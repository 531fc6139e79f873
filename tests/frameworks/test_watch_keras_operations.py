"""Losses that are made by hand under a tape: the line in which a NaN of theirs is born."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

SHARES = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 6)).astype("float32")
votes = np.stack([rng.multinomial(9, row) for row in rng.dirichlet([2.0, 2.0, 2.0], size=640)]).astype("float32")
shares = (votes + 0.5) / (votes + 0.5).sum(1, keepdims=True)
shares[200] = [1.0, 0.0, 0.0]
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(3, activation="softmax")])
optimizer = keras.optimizers.Adam(1e-3)
def surprise(target):
    return tf.math.log(target)
def divergence(target, answer):
    masked = tf.where(target > 2.0, float("-inf"), answer)
    difference = LOG
    return tf.reduce_mean(tf.reduce_sum(target * difference, axis=1)) + 0.0 * tf.reduce_mean(masked)
STEP
for start in range(0, 640, 16):
    step(x[start:start + 16], shares[start:start + 16])
"""
FUNCTION = """
@tf.function
def step(rows, targets):
    with tf.GradientTape() as tape:
        loss = divergence(targets, model(rows, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("step", [FUNCTION, FUNCTION.replace("@tf.function\n", "")])
def test_the_line_of_a_logarithm(tmp_path: Path, name: str, step: str) -> None:
    text = SHARES.replace("NAME", name).replace("STEP", step)
    seen = watch(tmp_path, text.replace("LOG", "surprise(target) - tf.math.log(answer)"))
    birth = seen.births[0]
    assert "L209" in found(seen)
    assert (birth.step, birth.what, birth.name, birth.rows) == (13, "loss", "Log", [8])
    assert birth.site is not None
    assert birth.site.source == "return tf.math.log(target)"
    healthy = watch(tmp_path, text.replace("LOG", "surprise(target + 1e-7) - tf.math.log(answer)"))
    assert not healthy.births
    assert not any("watching failed" in warning for warning in healthy.warnings)


@pytest.mark.parametrize("name", KERAS)
def test_an_infinity_that_masks_is_not_where_it_is_born(tmp_path: Path, name: str) -> None:
    text = SHARES.replace("NAME", name).replace("STEP", FUNCTION).replace("2.0, float", "0.99, float")
    birth = watch(tmp_path, text.replace("LOG", "surprise(target + 1e-7) - tf.math.log(answer)")).births[0]
    assert birth.site is not None
    assert birth.site.source.startswith("return tf.reduce_mean(")


@pytest.mark.parametrize("name", KERAS)
def test_nobody_listens_once_the_watching_is_over(tmp_path: Path, name: str) -> None:
    from tensorflow.python.eager import context

    text = SHARES.replace("NAME", name).replace("STEP", FUNCTION).replace("LOG", "surprise(target + 1e-7) - tf.math.log(answer)")
    seen = watch(tmp_path, text + "with tf.GradientTape() as tape:\n    left = tf.constant(1.0) * 2.0\n")
    assert seen.steps
    assert not context.context().op_callbacks


TRIPLETS = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 6)).astype("float32")
other = rng.normal(size=(640, 6)).astype("float32")
other[200] = x[200]
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(1e-3)
def distance(a, b):
    squared = tf.reduce_sum(tf.square(a - b), axis=1)
    return tf.sqrt(ROOT)
STEP
for start in range(0, 640, 16):
    step(x[start:start + 16], other[start:start + 16])
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("function", [True, False])
def test_the_line_whose_derivative_is_no_number(tmp_path: Path, name: str, *, function: bool) -> None:
    step = FUNCTION.replace("divergence(targets, model(rows, training=True))", "tf.reduce_mean(distance(model(rows), model(targets)))")
    text = TRIPLETS.replace("NAME", name).replace("STEP", step if function else step.replace("@tf.function\n", ""))
    seen = watch(tmp_path, text.replace("ROOT", "squared"))
    birth = seen.births[0]
    assert found(seen) == ["L209"]
    assert (birth.step, birth.what, birth.name) == (13, "gradient", "Sqrt in the backward pass")
    assert birth.site is not None
    assert birth.site.source == "return tf.sqrt(squared)"
    healthy = watch(tmp_path, text.replace("ROOT", "squared + 1e-9"))
    assert not healthy.births
    assert not any("watching failed" in warning for warning in healthy.warnings)
