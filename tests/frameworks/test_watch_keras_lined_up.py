"""Loss classes of a script's own that get an output `(N, 1)` and a target `(N,)`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

OWN = """
import keras
import numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(320, 6)).astype("float32")
y = (x[:, 0] - x[:, 1]).astype("float32")
class Own(keras.losses.Loss):
    def call(self, y_true, y_pred):
        LINES
        return tf.reduce_mean(tf.square(y_pred - y_true))
inputs = keras.Input((6,))
model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="INIT")(keras.layers.Dense(16, "relu")(inputs)))
model.compile(keras.optimizers.Adam(0.01), loss=Own())
model.fit(x, y, epochs=2, batch_size=32, verbose=0)
"""


@pytest.mark.parametrize("init", ["glorot_uniform", "zeros"])
@pytest.mark.parametrize(("lines", "wrong"), [
    ("pass", True), ("y_true, y_pred = tf.reshape(y_true, (-1,)), tf.reshape(y_pred, (-1,))", False),
    ("y_pred = tf.squeeze(y_pred, -1)", False)])
def test_a_loss_that_brings_both_into_line(tmp_path: Path, init: str, lines: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    text = OWN.replace("LINES", lines).replace("INIT", init)
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L203" in found(seen)) is wrong, [(call.name, call.lined_up) for call in seen.loss_calls[:2]]


def test_a_batch_of_one_class(tmp_path: Path) -> None:
    """In whatever order its targets are, a table of all pairs and the rows themselves come to the same."""
    pytest.importorskip("keras")
    text = OWN.replace("LINES", "y_true = tf.reshape(y_true, tf.shape(y_pred))").replace("INIT", "glorot_uniform")
    rare = text.replace('y = (x[:, 0] - x[:, 1]).astype("float32")', 'y = (np.arange(320) == 300).astype("float32")')
    assert rare != text
    seen = watch(tmp_path, rare.replace("verbose=0)", "verbose=0, shuffle=False)"), probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert "L203" not in found(seen), [(call.name, call.lined_up) for call in seen.loss_calls[:2]]
