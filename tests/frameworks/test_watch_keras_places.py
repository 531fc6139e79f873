"""Which of several lines of a script is meant: where an activation is named, and where a step asks for gradients of some weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

HEAD = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 10)).astype("float32")
y = (x[:, 0] > 0).astype("int64")
"""
HANDED = HEAD + """
class Block(keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.inner = keras.layers.Dense(units, activation=activation)
    def call(self, x):
        return self.inner(x)

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = Block(16, "relu")
        self.last = Block(2, LAST)
    def call(self, x):
        return self.last(self.first(x))

model = Net()
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""
ASKED = HEAD + """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.layers.Dense(16, activation="relu")
        self.head = keras.layers.Dense(2)
    def call(self, x):
        return self.head(self.body(x))
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        weights = self.PART.trainable_variables if "PART" != "all" else self.trainable_variables
        gradients = tape.gradient(loss, weights)
        self.optimizer.apply_gradients(zip(gradients, weights))
        return {"loss": loss}

model = Net()
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("last", "code"), [('"softmax"', "L205"), ("None", None)])
def test_the_line_that_names_an_activation(tmp_path: Path, name: str, last: str, code: str | None) -> None:
    seen = watch(tmp_path, HANDED.replace("NAME", name).replace("LAST", last), steps=40)
    assert found(seen) == ([code] if code else [])
    if code:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == 'self.last = Block(2, "softmax")'


@pytest.mark.parametrize(("part", "code"), [("head", "G302"), ("all", None)])
def test_the_line_that_asks_for_some_gradients(tmp_path: Path, part: str, code: str | None) -> None:
    seen = watch(tmp_path, ASKED.replace("NAME", "keras").replace("PART", part), steps=40)
    assert found(seen) == ([code] if code else [])
    if code:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == "gradients = tape.gradient(loss, weights)"
