"""How often functions are traced under watch, and what loops of tapes tell of rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

FIT = """
traced = []
class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b = keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)
    def call(self, x):
        return self.b(self.a(x))
    def train_step(self, data):
        traced.append(1)
        return super().train_step(data)
model = Model()
BUILT
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x, y, batch_size=16, epochs=1, verbose=0)
print("traced", len(traced))
"""


@pytest.mark.parametrize(("built", "most"), [("model(x[:1])", 1), ("", 2)])
def test_a_step_is_traced_once(tmp_path: Path, built: str, most: int, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tf_keras")
    seen = watch(tmp_path, HEAD.replace("NAME", "tf_keras") + FIT.replace("BUILT", built), probe_seconds=0)
    assert seen.exception is None
    assert f"traced {most}\n" in capsys.readouterr().out
    assert len(seen.steps) > 10
    assert seen.optimizer is not None
    assert seen.optimizer.held == 4


LOOP = """
x = 50 + 9 * x
scaled = (x - x.mean(0)) / x.std(0)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
optimizer, loss_of = keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train = tf.data.Dataset.from_tensor_slices((scaled[:500], y[:500])).shuffle(500).batch(20)
held = tf.data.Dataset.from_tensor_slices((HELD[500:], y[500:])).batch(35)
@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for epoch in range(2):
    for xb, yb in train:
        step(xb, yb)
    for xb, yb in held:
        model(xb, training=False)
"""


@pytest.mark.parametrize("keras", KERAS)
@pytest.mark.parametrize(("held", "wrong"), [("x", True), ("scaled", False)])
def test_rows_of_another_scale_in_a_loop(tmp_path: Path, keras: str, held: str, *, wrong: bool) -> None:
    pytest.importorskip(keras)
    seen = watch(tmp_path, HEAD.replace("NAME", keras) + LOOP.replace("HELD", held), steps=40)
    assert ("E508" in found(seen)) is wrong, (found(seen), seen.evaluation.scale)
    if wrong:
        assert seen.sites["eval_dataset"].source.startswith("held = ")


def test_a_layer_that_is_made_in_call(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    text = HEAD.replace("NAME", "keras") + """
class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.out = keras.layers.Dense(2)
    def call(self, x):
        h = keras.layers.Dense(8, activation="relu")(x)
        return self.out(h)
model = Model()
optimizer, loss_of = keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for start in range(0, 480, 16):
    with tf.GradientTape() as tape:
        loss = loss_of(y[start:start + 16], model(x[start:start + 16]))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
    seen = watch(tmp_path, text)
    assert "G303" in found(seen), found(seen)
    assert seen.sites["unregistered"].source.startswith("h = keras.layers.Dense(8")


LANGUAGE = """
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel
tf.random.set_seed(0)
model = TFGPT2LMHeadModel(GPT2Config(vocab_size=20, n_positions=12, n_embd=16, n_layer=1, n_head=2))
optimizer = tf_keras.optimizers.Adam(1e-2)
for number in range(10):
    ids, mask = np.zeros((8, 12), "int64"), np.zeros((8, 12), "int32")
    for row in range(8):
        length = 3 + (row + number) % 5
        ids[row, :length], mask[row, :length] = (np.arange(length) + row) % 18 + 1, 1
    labels = LABELS
    batch = {"input_ids": tf.constant(ids), "attention_mask": tf.constant(mask), "labels": tf.constant(labels)}
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(batch, training=True).loss)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize(("labels", "wrong"), [("ids.copy()", True), ("np.where(mask == 1, ids, -100)", False)])
def test_padding_that_a_language_model_learns(tmp_path: Path, labels: str, *, wrong: bool) -> None:
    pytest.importorskip("tf_keras")
    transformers = pytest.importorskip("transformers")
    if int(transformers.__version__.split(".")[0]) > 4:
        pytest.skip("no TensorFlow models in it")
    seen = watch(tmp_path, LANGUAGE.replace("LABELS", labels), probe_seconds=0)
    assert seen.exception is None
    assert ("L214" in found(seen)) is wrong, (found(seen), seen.probes.fillers_counted)
    if wrong:
        assert seen.sites["labels.made"].source == "labels = ids.copy()"


@pytest.mark.parametrize(("labels", "wrong"), [
    ("np.where(mask == 1, np.roll(ids, -1, 1), -100)", True), ("np.where(mask == 1, ids, -100)", False)])
def test_labels_that_are_shifted_twice(tmp_path: Path, labels: str, *, wrong: bool) -> None:
    pytest.importorskip("tf_keras")
    transformers = pytest.importorskip("transformers")
    if int(transformers.__version__.split(".")[0]) > 4:
        pytest.skip("no TensorFlow models in it")
    seen = watch(tmp_path, LANGUAGE.replace("LABELS", labels), probe_seconds=0)
    assert seen.exception is None
    assert ("L211" in found(seen)) is wrong, (found(seen), seen.probes.shift)


@pytest.mark.parametrize(("labels", "wrong"), [
    ("np.where(mask == 1, np.roll(ids, -1, 1), -100)", True), ("np.where(mask == 1, ids, -100)", False)])
def test_labels_that_are_shifted_twice_in_fit(tmp_path: Path, labels: str, *, wrong: bool) -> None:
    pytest.importorskip("tf_keras")
    transformers = pytest.importorskip("transformers")
    if int(transformers.__version__.split(".")[0]) > 4:
        pytest.skip("no TensorFlow models in it")
    text, step = LANGUAGE.replace("LABELS", labels).split("    with tf.GradientTape")[0], """
    model.fit(tf.data.Dataset.from_tensor_slices(batch).batch(8), verbose=0)
"""
    seen = watch(tmp_path, text.replace("for number", "model.compile(optimizer)\nfor number") + step)
    assert seen.exception is None
    assert ("L211" in found(seen)) is wrong, (found(seen), seen.probes.shift)
