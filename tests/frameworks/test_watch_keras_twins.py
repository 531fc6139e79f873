"""Rows of Keras with equal inputs: counted in the first pass, where each is another row of the data."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from tests.frameworks.test_watch_keras import watch

SCRIPT = """
import numpy as np
import tensorflow as tf
import tf_keras as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.integers(1, 40, size=(60, 6))[rng.integers(0, 60, 400)]
y = rng.integers(0, 2, 400)
model = keras.Sequential([keras.layers.Embedding(40, 8), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(400)
FIT
"""


@pytest.mark.parametrize(("fit", "counted"), [
    ("model.fit(data.batch(20), epochs=3, verbose=0)", True), ("model.fit(x, y, batch_size=20, epochs=3, verbose=0)", True),
    ("model.fit(data.repeat().batch(20), steps_per_epoch=60, epochs=1, verbose=0)", False)], ids=["dataset", "arrays", "repeated"])
def test_equal_inputs(tmp_path: Path, fit: str, *, counted: bool) -> None:
    twins = watch(tmp_path, SCRIPT.replace("FIT", fit), seconds=60).probes.twins
    if not counted:
        assert twins is None
        return
    assert twins is not None
    assert (twins.rows > 350, 55 < twins.inputs <= 60) == (True, True)
    assert abs(twins.agree - twins.chance) < 0.1
