"""Conditions on tensors in layers and steps of a script's own: converted by AutoGraph where Keras has that done, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import HEAD, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

SCRIPT = HEAD + """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, x):
        if tf.reduce_sum(x) > 1e9:
            x = x / 2.0
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x) - tf.cast(tf.reshape(y, (-1, 1)), tf.float32)))
        shown = loss
        if loss > 100.0:
            shown = tf.constant(100.0)
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {"loss": shown}

model = Net()
model.compile("sgd", JIT)
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("name", "jit", "line"), [
    ("tf_keras", "jit_compile=False", "if loss > 100.0:"), ("keras", "jit_compile=False", "if tf.reduce_sum(x) > 1e9:"),
    ("tf_keras", "jit_compile=True", None)])
def test_a_condition_on_a_tensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, jit: str, line: str | None) -> None:
    monkeypatch.chdir(tmp_path)
    seen = watch(tmp_path, SCRIPT.replace("NAME", name).replace("JIT", jit))
    if line is None:
        assert seen.exception is None, seen.exception
        assert len(seen.steps) > 3
        return
    assert seen.exception is not None
    assert seen.exception.type == "OperatorNotAllowedInGraphError"
    assert seen.exception.site is not None
    assert seen.exception.site.source == line
    assert found(seen) == ["A799"]
