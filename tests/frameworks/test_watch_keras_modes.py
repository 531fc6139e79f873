"""Keras under watch: layers that train whatever they are asked for, and TF models of transformers that get no labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

BLOCK = """
class Block(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense, self.norm = keras.layers.Dense(16, activation="relu"), keras.layers.BatchNormalization(momentum=0.9)
        self.drop = keras.layers.Dropout(0.2)
    def call(self, h, training=None):
        h = self.norm(self.dense(h), training=NORM)
        return self.drop(h, training=DROP)
inputs = keras.Input((10,))
model = keras.Model(inputs, keras.layers.Dense(2)(Block()(inputs)))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
answers = [model.predict_on_batch(row[None]) for row in x[:20]]
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("norm", "drop", "wrong"), [
    ("True", "training", True), ("training", "training", False),
    ("training", "True", False),  # that draws samples
])
def test_a_norm_that_always_trains(name: str, norm: str, drop: str, tmp_path: Path, *, wrong: bool) -> None:
    seen = watch(tmp_path, (HEAD + BLOCK).replace("NAME", name).replace("NORM", norm).replace("DROP", drop), probe_seconds=4.0)
    assert (found(seen) == ["E502"]) is wrong, found(seen)
    if wrong:
        assert seen.evaluation.normalised is not None
        assert "self.norm(" in seen.evaluation.normalised.source


BERT = """
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification
tf_keras.utils.set_random_seed(0)
ids = np.random.randint(5, 60, (320, 8)).astype("int32")
label = (ids[:, 1] > 30).astype("int32")
model = TFBertForSequenceClassification(BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                                   intermediate_size=16, max_position_embeddings=8, num_labels=2))
model.compile(optimizer=tf_keras.optimizers.Adam(3e-3))
data = tf.data.Dataset.from_tensor_slices(GIVEN).batch(16)
model.fit(data, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("given", "names"), [
    ('({"input_ids": ids}, {"label": label})', ["label"]),
    ('({"input_ids": ids}, {"labels": label})', None),
    ('({"input_ids": ids}, label)', None),
    ('{"input_ids": ids, "labels": label}', None)])
def test_a_model_that_makes_its_own_loss_of_labels(given: str, names: list[str] | None, tmp_path: Path) -> None:
    pytest.importorskip("transformers.models.bert.modeling_tf_bert")
    seen = watch(tmp_path, BERT.replace("GIVEN", given))
    assert seen.model is not None
    assert seen.model.unlabelled == names
    assert ("D102" in found(seen)) is (names is not None), found(seen)


FITTED = """
import numpy as np
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 6)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), LAYER, keras.layers.Dense(2)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
if UNFITTED:
    model(x[:4], training=True)
model.fit(x, y, batch_size=32, epochs=3, validation_split=0.2, verbose=0)
answers = ASKED
"""
NORM, DROP = "keras.layers.BatchNormalization()", "keras.layers.Dropout(0.3)"


@pytest.mark.parametrize("name", ["tf_keras", "keras"])
@pytest.mark.parametrize(("layer", "asked", "wrong"), [
    (NORM, "[model(x[n:n + 8], training=True) for n in range(0, 320, 8)]", True), (DROP, "model(x, training=True)", True),
    (NORM, "model(x, training=False)", False), (NORM, "model.predict(x, verbose=0)", False),
    (DROP, "[model(x, training=True) for _ in range(20)]", False)])
def test_a_model_that_fit_has_trained(tmp_path: Path, name: str, layer: str, asked: str, *, wrong: bool) -> None:
    """The last: samples of its answers. To be called in training mode before `fit` only makes its weights."""
    pytest.importorskip(name)
    text = FITTED.replace("NAME", name).replace("LAYER", layer).replace("ASKED", asked).replace("UNFITTED", str(not wrong))
    seen = watch(tmp_path, text)
    assert (found(seen) == ["E502"]) is wrong, (found(seen), seen.evaluation.in_training_mode, seen.evaluation.forwards)
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == f"answers = {asked}"


FLAG = """
inputs = keras.Input((10,))
body = keras.Sequential([inputs, keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.3), keras.layers.Dense(2)])
class Net:
    training = True
    def __call__(self, x, training=None):
        return body(x, training=self.training)
net, optimizer = Net(), keras.optimizers.Adam(0.01)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
def evaluate():
    net.training = False
    return float(loss_of(y, net(x)))
for epoch in range(3):
    BEGIN
    for start in range(0, 640, 64):
        with tf.GradientTape() as tape:
            loss = loss_of(y[start:start + 64], STEP)
        optimizer.apply_gradients(zip(tape.gradient(loss, body.trainable_variables), body.trainable_variables))
    evaluate()
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("begin", "step", "wrong"), [
    ("pass", "net(x[start:start + 64])", True), ("net.training = True", "net(x[start:start + 64])", False),
    ("pass", "body(x[start:start + 64], training=True) if epoch < 1 else body(x[start:start + 64],\\\n training=False)", False)])
def test_a_flag_that_nobody_puts_up_again(name: str, begin: str, step: str, tmp_path: Path, *, wrong: bool) -> None:
    text = (HEAD + FLAG).replace("NAME", name).replace("BEGIN", begin).replace("STEP", step)
    seen = watch(tmp_path, text, probe_seconds=0.5, steps=40)
    assert seen.warnings == []
    assert ("E503" in found(seen)) is wrong, seen.evaluation
    if wrong:
        assert seen.sites["told_off"].source == "return float(loss_of(y, net(x)))"
