"""Masks that end at a layer of the script's own before a recurrent one, and those that go through."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import watch

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

SLIPS = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x, y = np.zeros((640, 48), "int32"), rng.integers(0, 2, 640)
for row, label in zip(x, y):
    words = rng.integers(4, 40, rng.integers(5, 11))
    first, second = sorted(rng.choice(len(words), 2, replace=False))
    words[first], words[second] = (2, 3) if label else (3, 2)
    row[: len(words)] = words
class Blank(keras.layers.Layer):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        HANDS_ON
    def call(self, rows, training=None):
        if not training:
            return rows
        keep = tf.random.uniform((tf.shape(rows)[0], tf.shape(rows)[1], 1)) >= self.rate
        return rows * tf.cast(keep, rows.dtype)
words = keras.Input((48,), dtype="int32")
hidden = Blank(0.05)(keras.layers.Embedding(40, 8, mask_zero=True)(words))
scores = keras.layers.Dense(1, activation="sigmoid")(keras.layers.GRU(12)(hidden))
model = keras.Model(words, scores)
model.compile(keras.optimizers.Adam(5e-3), "binary_crossentropy")
model.fit(x, y.astype("float32"), batch_size=32, epochs=3, verbose=0)
"""


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("hands_on", "wanted"), [("pass", True), ("self.supports_masking = True", False)])
def test_where_a_mask_ends(name: str, hands_on: str, wanted: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, SLIPS.replace("NAME", name).replace("HANDS_ON", hands_on), steps=24, probe_seconds=4.0)
    found = next((result for result in walk(seen) if result.state == "found"), None)
    assert (found is not None and found.code == "B102") is wanted
    if found is not None and wanted:
        assert found.finding is not None
        assert "ends at blank: Blank" in found.finding.message
        assert found.finding.site is not None
        assert found.finding.site.source == "super().__init__()"
