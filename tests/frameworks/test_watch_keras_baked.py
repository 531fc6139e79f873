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
        assert "self.weight *" in site.source
