"""Numbers that a step reads while it is traced, and that a callback changes later."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

RAMP = HEAD + """
class Weighted(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
        self.weight = START
        self.seen = 0
        self.loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    def call(self, x, training=None):
        return self.inner(x, training=training)
    def train_step(self, data):
        xb, yb = data
        with tf.GradientTape() as tape:
            scores = self(xb, training=True)
            loss = self.loss_of(yb, scores) + self.weight * tf.reduce_mean(scores ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
class Ramp(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.seen += 1  # no step reads this
        CHANGE
model = Weighted()
model.compile(optimizer=keras.optimizers.Adam(0.01), FLAGS)
model.fit(x, y, batch_size=32, epochs=3, verbose=0, callbacks=[Ramp()])
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("start", "change", "flags", "fault"), [
    ("0.0", "self.model.weight = 0.1 * epoch", "", True), ("0.1", "pass", "", False),
    ("tf.Variable(0.0, trainable=False)", "self.model.weight.assign(0.1 * epoch)", "", False),
    ("0.0", "self.model.weight = 0.1 * epoch", "run_eagerly=True", False)])
def test_a_weight_of_the_loss(tmp_path: Path, name: str, start: str, change: str, flags: str, *, fault: bool) -> None:
    text = RAMP.replace("START", start).replace("CHANGE", change).replace("FLAGS", flags).replace("NAME", name)
    seen = watch(tmp_path, text, steps=60)
    assert (found(seen) == ["D109"]) is fault, (found(seen), seen.baked)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == "self.weight = 0.0"
        assert seen.baked is not None
        assert seen.baked.read is not None
        assert "self.weight *" in seen.baked.read.source


COUNTED = HEAD + """
class Adding(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
        self.seen = SEEN
        self.sums = [tf.Variable(tf.zeros(weight.shape), trainable=False) for weight in self.inner.trainable_variables]
        self.loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    def call(self, x, training=None):
        return self.inner(x, training=training)
    def train_step(self, data):
        xb, yb = data
        with tf.GradientTape() as tape:
            loss = self.loss_of(yb, self(xb, training=True))
        for total, gradient in zip(self.sums, tape.gradient(loss, self.inner.trainable_variables)):
            total.assign_add(gradient / 4)
        COUNT
        tf.cond(tf.equal(self.seen % 4, WHEN), self.move, lambda: None)
        return {"loss": loss}
    def move(self):
        self.optimizer.apply_gradients([(total.value(), weight) for total, weight in zip(self.sums, self.inner.trainable_variables)])
        for total in self.sums:
            total.assign(tf.zeros_like(total))
model = Adding()
model.compile(optimizer=keras.optimizers.SGD(0.1))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("seen", "count", "when", "fault"), [
    ("0", "self.seen += 1", "7", True), ("tf.Variable(0, trainable=False)", "self.seen.assign_add(1)", "0", False)])
def test_a_counter_that_only_the_tracing_moves(tmp_path: Path, name: str, seen: str, count: str, when: str, *, fault: bool) -> None:
    """(`% 4 == 7` is never so: a graph that was traced with the right number would step at every batch.)"""
    text = COUNTED.replace("SEEN", seen).replace("COUNT", count).replace("WHEN", when).replace("NAME", name)
    record = watch(tmp_path, text, steps=20)
    assert found(record) == (["S404"] if fault else []), (record.counted, record.optimizer)
    if fault:
        finding = next(result.finding for result in walk(record) if result.finding)
        assert finding.site is not None
        assert "self.seen += 1" in finding.site.source
        assert "none of 20 training steps" in finding.message


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("flags", "steps", "fault"), [("", 20, True), ("run_eagerly=True", 20, False), ("run_eagerly=True", 120, True)])
def test_a_step_that_forgets_the_optimizer(tmp_path: Path, name: str, flags: str, steps: int, *, fault: bool) -> None:
    """A graph has all of its calls; a step of Python may make one later on."""
    text = COUNTED.replace("SEEN", "0").replace("COUNT", "pass").replace("tf.cond(", "(").replace("SGD(0.1)", f"SGD(0.1), {flags}")
    record = watch(tmp_path, text.replace("WHEN", "0").replace("epochs=2", "epochs=20").replace("NAME", name), steps=steps)
    assert found(record) == (["S404"] if fault else []), record.optimizer
    if fault:
        finding = next(result.finding for result in walk(record) if result.finding)
        assert finding.site is not None
        assert "gradient" in finding.site.source
