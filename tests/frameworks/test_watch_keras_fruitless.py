"""Loops with `tf.GradientTape` that never come to their optimizer's step, and loops that take other ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.test_watch_keras_tape import text
from tests.frameworks.watching import found

STEP = """
optimizer = keras.optimizers.OPTIMIZER
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

@tf.function
def gradients_of(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True))
    return loss, tape.gradient(loss, model.trainable_variables)

for epoch in range(4):
    total = [tf.zeros_like(v) for v in model.trainable_variables]
    for number, (xb, yb) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640, seed=0).batch(32)):
        loss, gradients = gradients_of(xb, yb)
        total = [a + b / EVERY for a, b in zip(total, gradients)]
        if (number + 1) % EVERY == 0:
            TAKEN
            total = [tf.zeros_like(v) for v in model.trainable_variables]
"""
APPLY = "optimizer.apply_gradients(zip(total, model.trainable_variables))"
BY_HAND = "[v.assign_sub(0.1 * a) for v, a in zip(model.trainable_variables, total)]"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("every", "taken", "code"), [(900, APPLY, "S404"), (4, APPLY, None), (2, BY_HAND, None)])
def test_gradients_that_no_step_follows(tmp_path: Path, name: str, every: int, taken: str, code: str | None) -> None:
    seen = watch(tmp_path, text(name, STEP.replace("EVERY", str(every)).replace("TAKEN", taken)))
    assert seen.exception is None
    assert ("S404" in found(seen)) is (code is not None), found(seen)
    if code is not None:
        assert (seen.backward_without_step, seen.stopped) == (80, "finished")
        assert seen.sites["step_written"].source == APPLY
    elif taken is APPLY:
        assert seen.backward_without_step == 0


BEFORE_TAPE = """
import KERAS as keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(256, 6)).astype("float32")
y = x[:, :1] * 2
class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.wide = keras.layers.Dense(16, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-4))
        self.last = keras.layers.Dense(1)
    def call(self, x):
        return self.last(self.wide(x))
    def train_step(self, data):
        x, y = data
        BEFORE
        with tf.GradientTape() as tape:
            UNDER
            loss = tf.reduce_mean(tf.square(made - y)) + tf.add_n(self.losses)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
model = Model()
model.compile(keras.optimizers.Adam(1e-3))
model.fit(x, y, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("before", "under", "wrong"), [
    ("made = self(x, training=True)", "pass", True), ("pass", "made = self(x, training=True)", False),
    ("guess = self(x, training=False)", "made = self(x + 0 * guess, training=True)", False)])
def test_a_step_whose_model_runs_before_the_tape(tmp_path: Path, name: str, before: str, under: str, *, wrong: bool) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, BEFORE_TAPE.replace("KERAS", name).replace("BEFORE", before).replace("UNDER", under), probe_seconds=0.5)
    assert ("G302" in found(seen)) is wrong, found(seen)
    if wrong:
        assert seen.sites["unrecorded"].source == before
