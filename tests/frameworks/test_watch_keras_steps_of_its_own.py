"""A `train_step` of the script's own: loss functions that it calls by itself, and weights that it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

OWN = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 8)).astype("float32")
y = (x @ np.random.default_rng(1).normal(size=(8, 12))).argmax(1)
class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = keras.layers.Dense(32, activation="relu"), keras.layers.Dense(12, activation=ACTIVATION)
    def call(self, inputs, training=False):
        return self.out(self.hidden(inputs))
    def train_step(self, data):
        UNPACK
        with tf.GradientTape() as tape:
            answers = self(rows, training=True)
            loss = LOSS
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
model = Own()
model.compile(keras.optimizers.Adam(3e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=4, verbose=0 WEIGHTS)
"""
FUNCTION = "tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=answers))"
KERAS_FUNCTION = "tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, answers, from_logits=True))"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("loss", [FUNCTION, KERAS_FUNCTION])
@pytest.mark.parametrize(("activation", "codes"), [('"softmax"', ["L205"]), ("None", [])])
def test_functions_that_a_step_calls_by_itself(tmp_path: Path, name: str, loss: str, activation: str, codes: list[str]) -> None:
    made = OWN.replace("NAME", name).replace("ACTIVATION", activation).replace("UNPACK", "rows, labels = data").replace("LOSS", loss)
    seen = watch(tmp_path, made.replace("WEIGHTS", ""))
    assert found(seen) == codes, (found(seen), seen.loss_calls[:1])
    assert {call.name for call in seen.loss_calls} == {"sparse_categorical"}
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert seen.probes.train is not None
    assert seen.loss_calls[0].site is not None
    assert seen.loss_calls[0].site.source == f"loss = {loss}"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("unpack", "loss", "fault"), [
    ("rows, labels, _ = data", "self.compiled_loss_of(labels, answers)", True),
    ("rows, labels, weight = data", "self.compiled_loss_of(labels, answers, sample_weight=weight)", False),
    ("rows, labels, weight = data",
     "tf.reduce_mean(weight * keras.losses.sparse_categorical_crossentropy(labels, answers, from_logits=True))", False)])
def test_class_weights_that_a_step_leaves_out(tmp_path: Path, name: str, unpack: str, loss: str, *, fault: bool) -> None:
    loss = loss.replace("self.compiled_loss_of", "loss_of")
    made = OWN.replace("NAME", name).replace("ACTIVATION", "None").replace("UNPACK", unpack).replace("LOSS", loss)
    made = made.replace("class Own", "loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)\nclass Own")
    seen = watch(tmp_path, made.replace("WEIGHTS", ", class_weight={label: 1.0 + (label % 3) for label in range(12)}"))
    assert ("L212" in found(seen)) is fault, (found(seen), seen.unweighed)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == f"loss = {loss}"
