"""Early stopping of Keras by a measure that cannot see what the model learns."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

SCRIPT = """
import numpy as np
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
masks = np.zeros((320, 16, 16, 1), "float32")
for mask, (row, column) in zip(masks, rng.integers(1, 14, (320, 2))):
    mask[row:row + 2, column:column + 2] = 1
x = (rng.normal(0, 0.3, masks.shape) + 0.6 * masks).astype("float32")
model = keras.Sequential([keras.Input((16, 16, 1)), keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
                          keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid")])
model.compile(keras.optimizers.Adam(3e-3), "binary_crossentropy", metrics=[keras.metrics.BinaryAccuracy(name="accuracy")])
stop = keras.callbacks.EarlyStopping(monitor="val_MEASURE", patience=3)
model.fit(x[:256], masks[:256], validation_data=(x[256:], masks[256:]), epochs=7, callbacks=[stop], verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("measure", "fault"), [("accuracy", True), ("loss", False)])
def test_what_early_stopping_follows(tmp_path: Path, name: str, measure: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SCRIPT.replace("NAME", name).replace("MEASURE", measure), steps=60)
    assert (found(seen) == ["E504"]) is fault, (found(seen), seen.evaluation.monitors)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source.startswith("stop = ")
