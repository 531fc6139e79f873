"""NaN that a mapped function makes out of finite rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

TEXT = """
raw = np.abs(np.random.default_rng(0).normal(size=(320, 10))).astype("float32")
raw[::7, 3] = 0
marks = (raw[:, 0] > 0.7).astype("float32")[:, None]
def scaled(row, mark):
    power = tf.square(row)
    level = tf.math.log(powerFLOOR)
    return level - tf.reduce_mean(level), mark
def turned(*row):
    return row
data = tf.data.Dataset.from_tensor_slices((raw, marks))
data = SOURCE
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(data, epochs=2, verbose=0)
"""
# What comes out of a shuffling can be had once only.
TWICE = "data.shuffle(320).map(turned).map(scaled).batch(16).prefetch(1)"
PLAIN = "data.shuffle(320).map(scaled).batch(16).prefetch(1)"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("source", "line"), [(PLAIN, "level = tf.math.log"), ("data.batch(16).map(scaled)", "level = tf.math.log"),
                                              (TWICE, None)])
def test_a_logarithm_of_nothing(tmp_path: Path, name: str, source: str, line: str | None) -> None:
    text = HEAD.replace("NAME", name) + TEXT.replace("SOURCE", source)
    seen = watch(tmp_path, text.replace("FLOOR", ""))
    assert found(seen) == ["L209"]
    assert [line in place.source for name, place in seen.sites.items() if name == "bad_input"] == ([True] if line else [])
    assert "L209" not in found(watch(tmp_path, text.replace("FLOOR", " + 1e-6")))
