"""Numbers that a function reads which `tf.function` compiles, and that the script changes later."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

LOOP = """
import numpy as np, tensorflow as tf, NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 10)).astype("float32")
y = (x[:, :1] + x[:, 1:2]).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-2)
weight = 0.0
def penalty():
    return tf.add_n([tf.reduce_sum(part ** 2) for part in model.trainable_variables])
class Trainer:
    def __init__(self):
        self.weight = 0.0
        self.held = tf.Variable(0.0, trainable=False)
        self.seen = 0
    @tf.function
    def step(self, xb, yb):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(xb, training=True) - yb) ** 2) + self.READ * penalty()
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss
@tf.function
def step(xb, yb, factor=1.0):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(xb, training=True) - yb) ** 2) + factor * weight * penalty()
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
trainer = Trainer()
for epoch in range(3):
    for xb, yb in data:
        CALL
        trainer.seen += 1
    SET
"""
METHOD = "trainer.step(xb, yb)"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("read", "call", "change", "line"), [
    ("weight", METHOD, "trainer.weight = 0.01 * epoch + 0.01", "self.weight = 0.0"),
    ("weight", "step(xb, yb)", "weight = 0.01 * epoch + 0.01", "weight = 0.0"),
    ("weight", METHOD, "pass", None), ("weight", METHOD, "weight = 0.01 * epoch + 0.01", None),
    ("held", METHOD, "trainer.held.assign(0.01 * epoch)", None), ("weight", "step(xb, yb, factor=0.1 * epoch)", "pass", None),
    ("weight", "step(xb, yb)", "pass", None)])
def test_a_number(tmp_path: Path, name: str, read: str, call: str, change: str, line: str | None) -> None:
    text = LOOP.replace("NAME", name).replace("READ", read).replace("CALL", call).replace("SET", change)
    seen = watch(tmp_path, text, steps=60, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("D109" in found(seen)) is (line is not None), seen.baked
    if line is not None:
        assert seen.baked is not None
        assert seen.baked.kept == 0
        assert seen.baked.now == 0.01
        assert seen.baked.function == "step"
        assert seen.baked.site is not None
        assert seen.baked.site.source == line


@pytest.mark.parametrize("name", KERAS)
def test_trainers_one_after_the_other(tmp_path: Path, name: str) -> None:
    """Each has a function of its own, and may get the memory of the one before."""
    text = LOOP.replace("NAME", name).replace("READ", "weight").replace("CALL", METHOD).replace("SET", "pass")
    text += """
for fold in range(6):
    trainer = Trainer()
    trainer.weight = 0.001 * (fold + 1)
    for xb, yb in data.take(2):
        trainer.step(xb, yb)
    del trainer
"""
    seen = watch(tmp_path, text, steps=80, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert "D109" not in found(seen), seen.baked


HELD = LOOP.replace("trainer = Trainer()", """class Settings:
    def __init__(self):
        self.weight, self.epoch = 0.0, 0
    def weighed(self, value):
        return self.weight * value
settings = Settings()
trainer = Trainer()""")


@pytest.mark.parametrize(("term", "change", "wrong"), [
    ("settings.weight * penalty()", "settings.weight = 0.01", True), ("settings.weighed(penalty())", "settings.weight = 0.01", True),
    ("settings.weight * penalty()", "settings.epoch = epoch", False), ("settings.weighed(penalty())", "settings.epoch = epoch", False)])
def test_a_number_of_another_object(tmp_path: Path, term: str, change: str, *, wrong: bool) -> None:
    text = HELD.replace("factor * weight * penalty()", term).replace("NAME", "keras").replace("READ", "weight")
    seen = watch(tmp_path, text.replace("CALL", "step(xb, yb)").replace("SET", change), steps=60, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("D109" in found(seen)) is wrong, seen.baked
    if wrong:
        assert seen.baked is not None
        assert seen.baked.name == "settings.weight"
