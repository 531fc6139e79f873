"""Units that begin alike stay alike: named in both frameworks; zeros that other weights tell apart are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch import alike
from tests.frameworks.test_watch_keras import HEAD as KERAS_HEAD
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import HEAD, LOOP, found, watch

FILLED = """
for layer in (model.a, model.b):
    nn.init.constant_(layer.weight, VALUE)
    nn.init.zeros_(layer.bias)
model.drop.p = 0.0
"""
KERAS_MODEL = """
model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(32, activation="tanh", kernel_initializer="FIRST"),
    keras.layers.Dense(2, kernel_initializer="LAST"),
])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("value", ["0.1", "0.0"])
def test_one_number_for_all_weights(tmp_path: Path, value: str) -> None:
    seen = watch(tmp_path, HEAD + FILLED.replace("VALUE", value) + LOOP)
    assert found(seen) == ["F109"]
    facts = seen.probes.alike
    assert facts is not None
    assert facts.units == 32
    assert facts.constant
    assert facts.value == pytest.approx(float(value))
    assert facts.site is not None
    assert "constant_" in facts.site.source


def test_biases_that_are_drawn_tell_units_apart(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + FILLED.replace("VALUE", "0.1").replace("    nn.init.zeros_(layer.bias)\n", "") + LOOP)
    assert "F109" not in found(seen)


def test_an_output_that_begins_at_zero_is_no_fault(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + "nn.init.zeros_(model.b.weight)\n" + LOOP)
    assert found(seen) == []
    assert seen.probes.alike is None


@pytest.mark.parametrize(("first", "last", "codes"), [("ones", "glorot_uniform", []), ("ones", "ones", ["F109"]),
                                                      ("zeros", "zeros", ["F109"]), ("glorot_uniform", "zeros", [])])
def test_keras(tmp_path: Path, first: str, last: str, codes: list[str]) -> None:
    text = KERAS_HEAD.replace("NAME", "keras") + KERAS_MODEL.replace("FIRST", first).replace("LAST", last)
    assert [code for code in found(watch_keras(tmp_path, text)) if code == "F109"] == codes


def test_weights_that_no_step_reached_tell_nothing_beside_others() -> None:
    drawn, zeros = np.random.default_rng(0).normal(size=(8, 8)), np.zeros((8, 8))
    assert alike.measure([("a", drawn, drawn + 0.1), ("b", zeros, zeros)]) is None
    assert alike.measure([("a", zeros, zeros), ("b", zeros, zeros)]) is not None
    # A constant that dropout, or another layer, has told apart since.
    assert alike.measure([("a", drawn, drawn + 0.1), ("b", zeros, drawn)]) is None
    assert alike.measure([("narrow", zeros[:2], zeros[:2] + 1), ("one input", zeros[:, :1], zeros[:, :1] + 1)]) is None


TAPE = """
import numpy as np, tensorflow as tf
rng = np.random.default_rng(0)
tf.random.set_seed(0)
x = rng.normal(size=(640, 6)).astype("float32")
y = (x[:, 0] * x[:, 1]).astype("float32")
class Net(tf.Module):
    def __init__(self):
        self.first, self.bias, self.last = tf.Variable(FIRST), tf.Variable(tf.zeros([16])), tf.Variable(tf.random.normal([16, 1], 0, 0.3))
    def __call__(self, rows):
        return tf.tanh(rows @ self.first + self.bias) @ (self.last if DRAWN else self.last * 0 + 0.1)
net = Net()
weights = [net.first, net.bias]
for epoch in range(4):
    for start in range(0, 640, 32):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x[start:start + 32])[:, 0] - y[start:start + 32]) ** 2)
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(0.05 * gradient)
"""


@pytest.mark.parametrize(("first", "drawn", "fault"), [
    ("tf.fill([6, 16], 0.2)", "False", True), ("tf.fill([6, 16], 0.2)", "True", False), ("tf.random.normal([6, 16])", "False", False)])
def test_variables_of_a_loop(tmp_path: Path, first: str, drawn: str, *, fault: bool) -> None:
    """What comes behind a layer may tell its units apart."""
    seen = watch_keras(tmp_path, TAPE.replace("FIRST", first).replace("DRAWN", drawn))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("F109" in found(seen)) == fault
    if fault:
        assert seen.probes.alike is not None
        assert seen.probes.alike.site is not None
        assert "tf.fill" in seen.probes.alike.site.source
