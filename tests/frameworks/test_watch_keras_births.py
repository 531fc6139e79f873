"""Gradients that stop being numbers in a Keras step, whose loss is one still."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import KERAS, watch

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

ROOT_OF_ZERO = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
a = rng.normal(size=(640, 6)).astype("float32")
b = a + rng.normal(size=a.shape).astype("float32")
b[80] = a[80]
y = np.ones(640, dtype="float32")
def distance(one, other):
    return tf.sqrt(tf.reduce_sum(tf.square(one - other), axis=1)EXTRA)
class Pair(keras.Model):
    def __init__(self):
        super().__init__()
        self.up = keras.layers.Dense(4)
    def call(self, inputs):
        return distance(self.up(inputs[:, 0]), self.up(inputs[:, 1]))
model = Pair()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
model.fit(np.stack([a, b], axis=1), y, batch_size=16, epochs=1, shuffle=False, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
def test_the_root_of_zero(tmp_path: Path, name: str) -> None:
    seen = watch(tmp_path, ROOT_OF_ZERO.replace("NAME", name).replace("EXTRA", ""))
    found = next(result.finding for result in walk(seen) if result.code == "L209")
    assert found is not None
    assert seen.births[0].what == "gradient"
    assert seen.births[0].step == 6
    assert "Sqrt in the backward pass" in found.message
    assert found.site is not None
    assert found.site.source.startswith("return tf.sqrt(")
    healthy = watch(tmp_path, ROOT_OF_ZERO.replace("NAME", name).replace("EXTRA", " + 1e-12"))
    assert not healthy.births


LOG_OF_ZERO = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 6)).astype("float32")
x[200:232] *= 500.0
y = (x[:, :1] > 0).astype("float32")
def crossed(true, answer):
    return -tf.reduce_mean(true * tf.math.log(answer) + (1 - true) * tf.math.log(1 - answer))
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=crossed)
model.fit(x, y, batch_size=16, epochs=1, shuffle=False, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
def test_a_loss_of_the_scripts_own(tmp_path: Path, name: str) -> None:
    seen = watch(tmp_path, LOG_OF_ZERO.replace("NAME", name))
    assert (seen.births[0].what, seen.births[0].step) == ("loss", 13)
    assert seen.births[0].site is not None
    assert seen.births[0].site.source.startswith("return -tf.reduce_mean(true * tf.math.log(answer)")
    assert seen.births[0].name == "Log"


COMPILED = """
import numpy as np
import NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 6)).astype("float32")
y = np.random.default_rng(1).integers(0, 3, 640)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=True)
model.fit(x, y, batch_size=16, epochs=1, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
def test_a_compiled_loss_is_nan_where_the_same_loss_op_by_op_refuses(tmp_path: Path, name: str) -> None:
    seen = watch(tmp_path, COMPILED.replace("NAME", name))
    birth = seen.births[0]
    assert (birth.what, birth.step) == ("loss", 1)
    assert set(birth.row_labels) == {2}
    assert set(birth.finite_row_labels) == {0, 1}
    assert len(seen.steps) < 12, "what follows is its echo"
    assert not any("watching failed" in warning for warning in seen.warnings)


OWN_LAYER = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).uniform(0.1, 2.0, size=(640, 6)).astype("float32")
y = np.random.default_rng(1).integers(0, 2, 640)
x[200] = 0.0
class Decibels(keras.layers.Layer):
    def call(self, power):
        decibels = 10.0 * tf.math.log(power)
        return decibels - tf.reduce_mean(decibels, axis=1, keepdims=True)
inputs = keras.Input((6,))
model = keras.Model(inputs, keras.layers.Dense(2)(Decibels()(inputs)))
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=1, shuffle=False, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
def test_the_line_inside_a_layer_of_the_scripts_own(tmp_path: Path, name: str) -> None:
    birth = watch(tmp_path, OWN_LAYER.replace("NAME", name)).births[0]
    assert (birth.what, birth.step) == ("activation", 13)
    assert birth.site is not None
    assert birth.site.source == "decibels = 10.0 * tf.math.log(power)"
