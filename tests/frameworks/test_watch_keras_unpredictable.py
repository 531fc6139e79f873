"""Targets of numbers that the inputs say nothing about, in `fit`, where the same call of a loss may come twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

TEXT = """
import keras, numpy as np
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(960, 5)).astype("float32")
y = (x[:, 0] - 0.5 * x[:, 1] + 0.1 * rng.normal(size=960)).astype("float32")
x = ORDER
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(32, "gelu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(3e-3), "mse", metrics=["mae"])
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("order", "fault"), [("x[np.argsort(rng.random(960))]", True), ("x", False)])
def test_targets_of_other_rows(tmp_path: Path, order: str, *, fault: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, TEXT.replace("ORDER", order), steps=60, probe_seconds=4.0)
    assert seen.exception is None, seen.exception
    assert ("D106" in found(seen)) is fault, (seen.probes.number_baseline, [call.value for call in seen.loss_calls[-4:]])
