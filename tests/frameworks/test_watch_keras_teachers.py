"""Teachers inside of a Keras model, and the mode that they answer in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

TEXT = """
import numpy as np
import tensorflow as tf
import NAME as keras
from NAME import layers
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(400, 12)).astype("float32")
def network(width, share):
    return keras.Sequential([keras.Input((12,)), layers.Dense(width, activation="relu"), layers.Dropout(share), layers.Dense(4)])
class Distiller(keras.Model):
    def __init__(self, teacher, student):
        super().__init__()
        self.teacher, self.student = teacher, student
        self.teacher.trainable = False
    def call(self, given, training=None):
        TAUGHT
        return {"student": self.student(STUDIED), "teacher": taught}
    def train_step(self, given):
        with tf.GradientTape() as tape:
            made = self(given, training=True)
            soft = tf.nn.softmax(tf.stop_gradient(made["teacher"]))
            loss = -tf.reduce_mean(tf.reduce_sum(soft * tf.nn.log_softmax(made["student"]), -1))
        weights = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {"loss": loss}
student = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, activation="relu"), layers.Dense(4)])
model = Distiller(network(32, SHARE), student)
model.compile(keras.optimizers.Adam(1e-2))
model.fit(x, batch_size=40, epochs=3, verbose=0)
"""
ASKED, STILL = "taught = self.teacher(given)", "taught = self.teacher(given, training=False)"


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("taught", "studied", "share", "fault"), [
    (ASKED, "given", "0.5", True), (STILL, "given", "0.5", False), (ASKED, "given", "0.0", False),
    (ASKED, "taught", "0.5", False)])  # what it gives is what the other learns from
def test_a_teacher(tmp_path: Path, name: str, taught: str, studied: str, share: str, *, fault: bool) -> None:
    pytest.importorskip(name)
    text = TEXT.replace("NAME", name).replace("TAUGHT", taught).replace("STUDIED", studied).replace("SHARE", share)
    seen = watch(tmp_path, text.replace("WIDTH", "4" if studied == "taught" else "12"), steps=24, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert not [warning for warning in seen.warnings if "watching failed" in warning]
    assert ("F113" in found(seen)) is fault, seen.teacher
    assert not fault or seen.teacher.site.source == taught
