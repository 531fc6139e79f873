"""Gradients that a loop with a tape applies to other weights than their own, and healthy loops that look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tensorflow")

HEAD = """
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
x = np.random.randn(512, 6).astype("float32")
y = (x[:, :1] * x[:, 1:2] + x[:, 2:3]).astype("float32")
mse = keras.losses.MeanSquaredError()
def new():
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
net, other = new(), new()
other.set_weights(net.get_weights())
optimizer = keras.optimizers.Adam(3e-3)
batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512).batch(32)
"""
AVERAGE = """
for epoch in range(3):
    for xb, yb in batches:
        with tf.GradientTape() as tape:
            loss = mse(yb, net(xb, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, TO.trainable_variables))
        for slow, fast in zip(other.weights, net.weights):
            slow.assign(0.9 * slow + 0.1 * fast)
"""
ADAPTED = """
for epoch in range(3):
    for xb, yb in batches:
        other.set_weights(net.get_weights())
        with tf.GradientTape() as tape:
            loss = mse(yb, other(xb, training=True))
        grads = tape.gradient(loss, other.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
"""


def test_gradients_of_other_weights(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + AVERAGE.replace("TO", "other"), steps=24)
    first = next(result for result in walk(seen) if result.state == "found")
    assert first.code == "S405"
    assert first.finding is not None
    assert first.finding.site is not None
    assert first.finding.site.source.startswith("optimizer.apply_gradients")


@pytest.mark.parametrize("text", [AVERAGE.replace("TO", "net"), ADAPTED], ids=["own", "first-order"])
def test_steps_that_are_in_order(text: str, tmp_path: Path) -> None:
    assert "S405" not in found(watch(tmp_path, HEAD + text, steps=24))


STACK = """
net = keras.Sequential([keras.Input((6,)), *(keras.layers.Dense(6, activation="tanh") for _ in range(3)), keras.layers.Dense(1)])
optimizer.build(net.trainable_variables)
def listed(layers):
    return [weight for layer in layers for weight in layer.trainable_variables]
for epoch in range(3):
    for xb, yb in batches:
        with tf.GradientTape() as tape:
            loss = mse(yb, net(xb, training=True))
        grads = [tf.clip_by_norm(grad, 0.5) for grad in tape.gradient(loss, listed(net.layers))]
        optimizer.apply_gradients(zip(grads, listed(ORDER)))
"""


def test_gradients_of_one_order_with_the_weights_of_another(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + STACK.replace("ORDER", "[*net.layers[2::-1], net.layers[3]]"), steps=24)
    first = next(result for result in walk(seen) if result.state == "found")
    assert first.code == "S405"
    assert first.finding is not None
    assert "given that of" in first.finding.message
    assert first.finding.site is not None
    assert first.finding.site.source.startswith("optimizer.apply_gradients")
    assert "S405" not in found(watch(tmp_path, HEAD + STACK.replace("ORDER", "net.layers"), steps=24))


TWO = """
import keras
import numpy as np
keras.utils.set_random_seed(0)
x = np.random.randn(512, 6).astype("float32")
kind, size = (x[:, 0] > 0).astype("int32"), (2 * x[:, 1:2] + LEVEL).astype("float32")
rows = keras.Input((6,))
hidden = keras.layers.Dense(24, activation="relu")(rows)
heads = {"kind": ("softmax", 2), "size": ("softplus", 1)}
outputs = {name: keras.layers.Dense(units, activation=activation, name=name)(hidden) for name, (activation, units) in heads.items()}
model = keras.Model(rows, outputs)
model.compile(keras.optimizers.Adam(1e-2), loss={"kind": "sparse_categorical_crossentropy", "size": "mse"})
model.fit(x, {"kind": kind, "size": size}, epochs=3, batch_size=32, verbose=0)
"""


def test_one_of_several_outputs_that_cannot_express_its_targets(tmp_path: Path) -> None:
    seen = watch(tmp_path, TWO.replace("LEVEL", "0"), steps=24)
    first = next(result for result in walk(seen) if result.state == "found")
    assert first.code == "L210"
    assert first.finding is not None
    assert first.finding.site is not None
    assert first.finding.site.source.startswith("heads = ")
    (tmp_path / "above").mkdir()
    assert "L210" not in found(watch(tmp_path / "above", TWO.replace("LEVEL", "9"), steps=24))


def test_a_softmax_beside_a_sigmoid(tmp_path: Path) -> None:
    text = TWO.replace("(2 * x[:, 1:2] + LEVEL)", "(x[:, 1:2] > 0)")
    text = text.replace("softplus", "sigmoid").replace('"mse"', '"binary_crossentropy"')
    assert "L210" not in found(watch(tmp_path, text, steps=24))
    (tmp_path / "apart").mkdir()
    assert "L210" in found(watch(tmp_path / "apart", text.replace('"softmax", 2', '"sigmoid", 2'), steps=24))
