"""Windows that Keras cuts out of a series, and targets that lie in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch.keras_series import inside
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

SERIES = """
level = np.cumsum(np.random.default_rng(0).normal(size=(1200, 2)), 0).astype("float32") / 20
length, rate = 12, RATE
delay = DELAY
data = keras.utils.timeseries_dataset_from_array(
    level[:-delay], targets=TARGET, sequence_length=length, sampling_rate=rate, batch_size=32, shuffle=True, seed=0)
model = keras.Sequential([keras.Input((12, 2)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
model.fit(data, epochs=1, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("rate", "delay", "target", "wrong"), [
    ("4", "length + rate * 5 - 1", "level[delay:, 0]", True), ("4", "rate * (length + 5 - 1)", "level[delay:, 0]", False),
    ("4", "rate * 5", "level[delay:, 1]", True), ("4", "20", "level[delay:, 1]", True), ("1", "length + 5 - 1", "level[delay:, 0]", False),
    ("4", "length + rate * 5 - 1", "level[delay:, 0] - level[:-delay, 1]", False)])
def test_a_delay_in_steps(name: str, rate: str, delay: str, target: str, tmp_path: Path, *, wrong: bool) -> None:
    text = (HEAD + SERIES).replace("NAME", name).replace("RATE", rate).replace("DELAY", delay).replace("TARGET", target)
    seen = watch(tmp_path, text, probe_seconds=0.3)
    assert seen.warnings == []
    assert ("D111" in found(seen)) is wrong, seen.series
    if wrong:
        result = next(result.finding for result in walk(seen) if result.code == "D111")
        assert result is not None
        assert result.site is not None
        # A number that is plain is no mistaken sum.
        assert result.site.source.startswith("level[:-delay], targets=" if delay == "20" else "delay = ")


def test_where_a_target_stands() -> None:
    series = np.random.default_rng(0).normal(size=(300, 3))
    known = inside(series, series[7:, 2], 5, 3)
    assert known is not None
    assert (known.column, known.columns, known.offset) == (2, 3, 7)
    assert inside(series, series[13:, 2], 5, 3) is None
    assert inside(series[:, 2], series[12:, 2], 5, 3) is not None
    assert inside(series, np.zeros(200), 5, 3) is None
    assert inside(np.zeros((300, 3)), np.zeros(290), 5, 3) is None  # what never changes tells nothing
    assert inside(series, series[7:20, 2], 5, 3) is None
