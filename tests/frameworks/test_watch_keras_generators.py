"""Keras under watch: generators whose batches differ in size."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, watch
from tests.frameworks.watching import found

BATCHES = HEAD + """
def batches():
    while True:
        for width in WIDTHS:
            ids = np.random.randint(1, 20, (16, width)).astype("int32")
            yield ids, (ids % 3 == 0).astype("int32")
model = keras.Sequential([keras.Input((None,), dtype="int32"), keras.layers.Embedding(20, 8), keras.layers.Dense(2, activation="softmax")])
model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy")
model.fit(batches(), steps_per_epoch=8, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("widths", "fault"), [("(7, 7, 7, 9)", True), ("(7, 9, 8, 8)", False), ("(7,)", False)])
def test_what_keras_takes_for_the_shape_of_all(tmp_path: Path, widths: str, *, fault: bool) -> None:
    """It looks at the first batches: a size that differs among those may differ ever after."""
    seen = watch(tmp_path, BATCHES.replace("WIDTHS", widths).replace("NAME", "keras"))
    assert found(seen) == (["B101"] if fault else []), seen.exception
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "(16, 9) comes where (None, 7) is expected" in finding.message
        assert finding.site is not None
        assert "model.fit(" in finding.site.source
