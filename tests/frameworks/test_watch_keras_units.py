"""Numbers of Keras in other units than were meant, and what keeps on recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, MODEL, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

TURNED = """
import numpy as np
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 320)
x = rng.normal(size=(320, 12, 12, 1)).astype("float32") + y[:, None, None, None]
model = keras.Sequential([keras.Input((12, 12, 1)), keras.layers.RandomRotation(FACTOR), keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=4, verbose=0)
"""
SMALL = """
import numpy as np
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 8)).astype("float32")
y = 0.012 * (x[:, :1] * x[:, 1:2])
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, kernel_initializer="zeros")])
model.compile(keras.optimizers.Adam(1e-3), "mse")
plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=1, min_delta=LEAST)
model.fit(x, y, batch_size=32, epochs=12, verbose=0, callbacks=[plateau])
"""
AGAIN = HEAD + MODEL + """
optimizer, loss_of = keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
import tensorflow as tf
tape = tf.GradientTape(persistent=True)
for start in range(0, 320, 16):
    MADE
        loss = loss_of(y[start:start + 16], model(x[start:start + 16], training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
STREAM = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
def rows():
    for label in np.repeat(np.arange(4), 160) if SORTED else rng.integers(0, 4, 640):
        yield rng.normal(size=6).astype("float32") + label, label
kinds = (tf.TensorSpec((6,), tf.float32), tf.TensorSpec((), tf.int64))
train = tf.data.Dataset.from_generator(rows, output_signature=kinds).shuffle(BUFFER).batch(16)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("factor", "meant"), [
    ("0.5236", "30 degrees in radians"), ("0.7854", "45 degrees in radians"), ("0.5", ""), ("1.0", ""), ("30 / 360", "")])
def test_rotations(tmp_path: Path, name: str, factor: str, meant: str) -> None:
    seen = watch(tmp_path, TURNED.replace("NAME", name).replace("FACTOR", factor))
    assert (found(seen)[:1] == ["S406"]) is bool(meant), (found(seen), seen.model)
    if meant:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert meant in finding.message


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("least", "fault"), [("1e-4", True), ("1e-8", False)])
def test_a_plateau_of_small_numbers(tmp_path: Path, name: str, least: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SMALL.replace("NAME", name).replace("LEAST", least))
    assert ("S402" in found(seen)) is fault, (found(seen), seen.evaluation.monitors)


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("made", "fault"), [("with tape:", True), ("tape.reset()\n    with tape:", False),
                                             ("with tf.GradientTape(persistent=True) as tape:", False)])
def test_a_tape_that_goes_on_recording(tmp_path: Path, name: str, made: str, *, fault: bool) -> None:
    seen = watch(tmp_path, AGAIN.replace("NAME", name).replace("MADE", made), seconds=60)
    assert ("R602" in found(seen)) is fault, (found(seen), seen.memory)


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("ordered", "buffer", "fault"), [("True", "32", True), ("True", "640", False), ("False", "32", False)])
def test_a_buffer_beside_sorted_rows(tmp_path: Path, name: str, ordered: str, buffer: str, *, fault: bool) -> None:
    seen = watch(tmp_path, STREAM.replace("NAME", name).replace("SORTED", ordered).replace("BUFFER", buffer))
    assert ("D107" in found(seen)) is fault, (found(seen), seen.loaders)
