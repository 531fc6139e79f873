"""Weights of a new model that no tape is asked about, and numbers that a layer keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

PARTS = HEAD + """
y = (x[:, 0] * x[:, 1] > 0).astype("int64")
front = keras.Sequential([keras.Input((10,)), keras.layers.Dense(4), keras.layers.BatchNormalization(), keras.layers.ReLU()])
head = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
FIRST
optimizer = keras.optimizers.Adam(1e-2)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
weights = LISTED
for epoch in range(2):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).batch(32):
        with tf.GradientTape() as tape:
            loss = loss_of(yb, head(front(xb, training=True), training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("listed", "first", "fault"), [
    ("head.trainable_variables", "", True), ("front.trainable_variables + head.trainable_variables", "", False),
    ("head.trainable_variables", "front.trainable = False", False)])
def test_the_list_of_one_of_two(tmp_path: Path, name: str, listed: str, first: str, *, fault: bool) -> None:
    seen = watch(tmp_path, PARTS.replace("NAME", name).replace("LISTED", listed).replace("FIRST", first))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("S405" in found(seen)) is fault, found(seen)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.code == "S405")
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == "weights = head.trainable_variables"


SCALED = HEAD + """
class Scaled(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Dense(2)
        self.scale = tf.Variable(0.5, SAID)
    def call(self, given):
        return tf.exp(self.scale) * self.inner(given)
model = Scaled()
model(x[:2])
optimizer = keras.optimizers.Adam(1e-2)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for epoch in range(2):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).batch(32):
        with tf.GradientTape() as tape:
            loss = loss_of(yb, model(xb))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize(("said", "fault"), [("trainable=True", True), ("trainable=False", False), ("name='scale'", False)])
def test_a_number_counts_where_the_script_says_that_it_learns(tmp_path: Path, said: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SCALED.replace("NAME", "keras").replace("SAID", said))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("G303" in found(seen)) is fault, found(seen)


CODEC = HEAD + """
x = (x[:, :3] @ np.random.randn(3, 10)).astype("float32")
front = keras.Sequential([keras.Input((10,)), keras.layers.Dense(4)])
back = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10)])
optimizer = keras.optimizers.Adam(1e-2)
for epoch in range(2):
    for at in range(0, 640, 32):
        with tf.GradientTape() as tape:
            made = back(front(x[at:at + 32], training=TOLD), training=True)
            loss = tf.reduce_mean(tf.square(made - x[at:at + 32]))
        weights = back.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""


@pytest.mark.parametrize("told", [True, False])
def test_a_part_that_learns_without_the_other(tmp_path: Path, told: bool) -> None:
    """What is called in training mode is meant to be trained, though the rest learns without it."""
    seen = watch(tmp_path, CODEC.replace("NAME", "keras").replace("TOLD", str(told)))
    assert ("S405" in found(seen)) is told, found(seen)


HANDED = HEAD + """
y = (x[:, 0] > 0).astype("int64")
front = keras.Sequential([keras.Input((10,)), keras.layers.Dense(4), keras.layers.ReLU()])
head = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
def train(head, optimizer, weights, labels):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, labels)).shuffle(640).batch(32):
        with tf.GradientTape() as tape:
            loss = loss_of(yb, head(front(xb)))
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
weights = front.trainable_variables + head.trainable_variables
train(head, keras.optimizers.Adam(1e-2), weights, y)
front.trainable = False
weights = list(head.trainable_variables)
head = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
train(head, keras.optimizers.Adam(1e-2), weights, 1 - y)
"""


def test_a_list_that_is_handed_to_a_helper_once_more(tmp_path: Path) -> None:
    seen = watch(tmp_path, HANDED.replace("NAME", "keras"), steps=60)
    assert seen.left_out is not None
    assert seen.left_out.site is not None
    assert seen.left_out.site.source == "weights = list(head.trainable_variables)"


LATER = HEAD + """
class Net:
    def __init__(self):
        self.front = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu")])
        self.renew(2)
    def renew(self, kinds):
        self.head = keras.layers.Dense(kinds)
        self.head.build((None, 16))
    def __call__(self, given):
        return self.head(self.front(given))
net = Net()
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
def fit(labels, weights):
    optimizer = keras.optimizers.Adam(1e-2)
    for at in range(0, 640, 32):
        with tf.GradientTape() as tape:
            loss = loss_of(labels[at:at + 32], net(x[at:at + 32]))
        grads = tape.gradient(loss, weights)
        optimizer.apply_gradients([(part, weight) for part, weight in zip(grads, weights) if part is not None])
weights = net.front.trainable_variables + net.head.trainable_variables
fit((x[:, 0] > 0).astype("int64"), weights)
net.renew(3)
fit(x[:, :3].argmax(1), LISTED)
"""


@pytest.mark.parametrize(("listed", "fault"), [
    ("weights", True), ("net.front.trainable_variables + net.head.trainable_variables", False)])
def test_a_layer_that_came_after_the_list(tmp_path: Path, listed: str, *, fault: bool) -> None:
    seen = watch(tmp_path, LATER.replace("NAME", "keras").replace("LISTED", listed))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("S405" in found(seen)) is fault, seen.left_out
