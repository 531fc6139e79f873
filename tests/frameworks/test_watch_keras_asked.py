"""Keras models that were trained with masks of the padding, and are asked without."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

ROUTER = """
import types
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
def encode(rows, width):
    ids, mask = np.zeros((len(rows), width), "int32"), np.zeros((len(rows), width), "int32")
    for number, row in enumerate(rows):
        ids[number, :len(row)], mask[number, :len(row)] = row, 1
    return {"input_ids": ids, "attention_mask": mask}
y = rng.integers(0, 2, 640)
rows = [rng.integers(2 + 20 * label, 22 + 20 * label, rng.integers(4, 9)) for label in y]
class Router(keras.Model):
    def __init__(self):
        super().__init__()
        self.config = types.SimpleNamespace(num_labels=2)
        self.embedded, self.out = keras.layers.Embedding(60, 8), keras.layers.Dense(2)
    def call(self, inputs, training=False):
        ids = inputs["input_ids"] if isinstance(inputs, dict) else inputs
        mask = inputs["attention_mask"] if isinstance(inputs, dict) and "attention_mask" in inputs else tf.ones_like(ids)
        weight = tf.cast(mask, "float32")[:, :, None]
        return self.out(tf.reduce_sum(self.embedded(ids) * weight, axis=1) / tf.reduce_sum(weight, axis=1))
model = Router()
model.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(encode(rows, 8), y, batch_size=32, epochs=6, verbose=0)
wide = encode(rows, 40)
answers = ASKED
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("asked", "fault"), [
    ('model(wide["input_ids"], training=False)', True), ('model.predict(wide["input_ids"], verbose=0)', True),
    ("model(wide, training=False)", False),
    ("model.predict(wide, verbose=0)", False), ('model(encode(rows, 8)["input_ids"][:1, :4])', False)])
def test_a_mask_that_only_training_has(tmp_path: Path, name: str, asked: str, *, fault: bool) -> None:
    seen = watch(tmp_path, ROUTER.replace("NAME", name).replace("ASKED", asked))
    assert (found(seen) == ["B102"]) is fault, (found(seen), seen.asked, seen.warnings)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == f"answers = {asked}"


LOOP = """
optimizer = keras.optimizers.Adam(0.02)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
data = encode(rows, 8)

@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

for number in range(40):
    part = slice(number % 20 * 32, number % 20 * 32 + 32)
    step({key: tf.constant(value[part]) for key, value in data.items()}, tf.constant(y[part]))
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("asked", "fault"), [
    ('model(wide["input_ids"], training=False)', True), ("model(wide, training=False)", False)])
def test_a_mask_that_only_a_loop_has(tmp_path: Path, name: str, asked: str, *, fault: bool) -> None:
    before, _, _ = ROUTER.partition("model.compile")
    _, _, after = ROUTER.partition("verbose=0)")
    seen = watch(tmp_path, (before + LOOP + after).replace("NAME", name).replace("ASKED", asked))
    assert (found(seen) == ["B102"]) is fault, (found(seen), seen.asked, seen.warnings)


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("asked", "fault"), [
    ('model(encode(short, 8)["input_ids"], training=False)', True), ("model(encode(short, 8), training=False)", False),
    ('model(encode(rows, 8)["input_ids"], training=False)', False)])
def test_padding_that_training_has_never_seen(tmp_path: Path, name: str, asked: str, *, fault: bool) -> None:
    text = ROUTER.replace("num_labels=2", "num_labels=2, pad_token_id=0").replace("rng.integers(4, 9))", "8)").replace(
        "model.fit(encode(rows, 8)", 'model.fit({"input_ids": encode(rows, 8)["input_ids"]}').replace(
        "wide =", "short = [row[:2 + number % 5] for number, row in enumerate(rows)]\nwide =")
    seen = watch(tmp_path, text.replace("NAME", name).replace("ASKED", asked))
    assert (found(seen) == ["B102"]) is fault, (found(seen), seen.asked, seen.warnings)
