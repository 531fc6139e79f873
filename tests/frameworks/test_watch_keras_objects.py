"""Arrays of Python's objects that a Keras model is fitted on: one table of several kinds, or rows of several lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, MODEL, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

FIT = """
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
given = GIVEN
model.fit(given, y, batch_size=32, epochs=1, verbose=0)
"""
TABLE = "np.concatenate([x.astype(object), (x[:, :1] > 0).astype(bool).astype(object)], 1)[:, 1:]"
RAGGED = "np.array([list(row)[:3 + number % 5] for number, row in enumerate(x)], dtype=object)"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("given", "code"), [(TABLE, "B103"), (RAGGED, "B101")])
def test_objects(tmp_path: Path, name: str, given: str, code: str) -> None:
    seen = watch(tmp_path, (HEAD + MODEL + FIT).replace("NAME", name).replace("GIVEN", given))
    assert seen.exception is not None
    assert found(seen)[:1] == [code], seen.exception.message
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert finding.site is not None
    assert finding.site.source.startswith("model.fit(")
