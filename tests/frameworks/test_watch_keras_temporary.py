"""Data in a temporary folder that is gone when a script is over."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras

TEXT = """
import os, tempfile
import numpy as np, tensorflow as tf, keras
from sklearn.metrics import accuracy_score
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 8)).astype("float32")
y = (2 * x[:, 0] + x[:, 1] > 0).astype("int64") + (x[:, 2] > 1)
def read(path, label):
    return tf.ensure_shape(tf.io.decode_raw(tf.io.read_file(path), tf.float32), (8,)), label
def rows(folder, numbers):
    files = [os.path.join(folder, str(number)) for number in numbers]
    return tf.data.Dataset.from_tensor_slices((files, y[list(numbers)])).shuffle(400)CACHE.map(read).batch(25)
with tempfile.TemporaryDirectory() as folder:
    for number in range(400):
        with open(os.path.join(folder, str(number)), "wb") as file:
            file.write(x[number].tobytes())
    train, test = rows(folder, range(300)), rows(folder, range(300, 400))
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
    model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(train, epochs=4, verbose=0)
    answers = model.predict(test, verbose=0).argmax(1)
    labels = np.concatenate([b.numpy() for _, b in test])
print(accuracy_score(labels, answers))
"""


@pytest.mark.parametrize(("cache", "wrong"), [("", True), (".cache()", False)])
def test_what_is_read_again_is_read_before_it_is_gone(tmp_path: Path, cache: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = test_watch_keras.watch(tmp_path, TEXT.replace("CACHE", cache).replace("print(accuracy", "    print(accuracy"), steps=40)
    assert seen.exception is None
    assert ("E505" in [result.code for result in walk(seen) if result.state == "found"]) == wrong
