"""Variables in plain objects of a `tf.Module`, which does not look into such."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, walk, watch

TEXT = """
import numpy as np, tensorflow as tf
tf.random.set_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 4)).astype("float32")
y = np.tanh(x[:, :1] * x[:, 1:2]).astype("float32")
class Affine(tf.Module):
    def __init__(self, wide, out):
        super().__init__()
        self.w, self.b = tf.Variable(tf.random.normal((wide, out)) * 0.4), tf.Variable(tf.zeros(out))
    def __call__(self, x):
        return x @ self.w + self.b
class Block(KIND):
    def __init__(self, wide):
        super().__init__()
        self.inner = Affine(wide, wide)
    def __call__(self, h):
        return h + tf.tanh(self.inner(h))
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.first = Affine(4, 8)
        self.blocks = [Block(8), Block(8)]
        self.last = Affine(8, 1)
    def __call__(self, x):
        h = self.first(x)
        for block in self.blocks:
            h = block(h)
        return self.last(tf.tanh(h))
net = Net()
weights = list(WEIGHTS)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - y))
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.05 * gradient)
    return loss
for epoch in range(3):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(32):
        step(xb, yb)
"""


@pytest.mark.parametrize(("kind", "weights", "fault"), [
    ("object", "net.trainable_variables", True), ("tf.Module", "net.trainable_variables", False),
    ("tf.Module", "net.last.trainable_variables", False),  # the others are left as they are, on purpose
    ("object", "[*net.trainable_variables, *(part for block in net.blocks for part in block.inner.trainable_variables)]", False)])
def test_a_module(tmp_path: Path, kind: str, weights: str, *, fault: bool) -> None:
    pytest.importorskip("tensorflow")
    seen = watch(tmp_path, TEXT.replace("KIND", kind).replace("WEIGHTS", weights), steps=40, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("G303" in found(seen)) is fault, seen.unasked
    if fault:
        told = next(result.finding for result in walk(seen) if result.finding)
        assert told is not None
        assert told.site is not None
        assert told.site.source == "self.blocks = [Block(8), Block(8)]"
        assert "4 variables" in told.message


def test_a_mean_that_nobody_trains(tmp_path: Path) -> None:
    """Numbers to standardise by, kept as variables in an object of a plain class, are no weights."""
    pytest.importorskip("tensorflow")
    text = TEXT.replace("KIND", "tf.Module").replace("WEIGHTS", "net.trainable_variables")
    text = text.replace("class Net(", "class Scale:\n    def __init__(self):\n        self.mean = tf.Variable(x.mean(0))\nclass Net(")
    text = text.replace("self.first = ", "self.scale = Scale()\n        self.first = ")
    text = text.replace("self.first(x)", "self.first(x - self.scale.mean)")
    seen = watch(tmp_path, text, steps=40, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert "G303" not in found(seen), seen.unasked
