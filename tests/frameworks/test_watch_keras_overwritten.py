"""Datasets of Keras's that write into what they store when a batch is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, MODEL, watch

pytest.importorskip("keras")
pytest.importorskip("tensorflow")

ROWS = """
import math

class Rows(getattr(keras.utils, "PyDataset", None) or keras.utils.Sequence):
    def __init__(self, rows, labels):
        super().__init__()
        self.rows, self.labels = rows, labels
        self.buffer = np.zeros((32, 10), "float32")
        self.counts = np.zeros(len(rows))
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return math.ceil(len(self.rows) / 32)

    def __getitem__(self, number):
        at = slice(32 * number, 32 * (number + 1))
        batch = self.rows[at]
        CHANGE
        return batch, self.labels[at]

model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
rows = Rows(x.copy(), y)
model.fit(rows, epochs=2, verbose=0)
"""
NOISE = "batch += self.rng.normal(0, 0.1, batch.shape).astype('float32')"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("change", "found"), [
    (NOISE, True),
    ("batch[:, self.rng.integers(0, 8)] = 0", True),
    ("batch = batch.copy()\n        " + NOISE, False),
    ("self.counts[at] += 1", False),
    ("self.buffer[:len(batch)] = batch + self.rng.normal(0, 0.1, batch.shape)\n        batch = self.buffer[:len(batch)]", False),
    ("np.clip(batch, -2, 2, out=batch)", False)], ids=["noise", "a column", "a copy", "a count", "a buffer", "the same again"])
def test_batches_that_are_changed_in_place(name: str, change: str, found: bool, tmp_path: Path) -> None:
    text = (HEAD + MODEL + ROWS).replace("NAME", name).replace("CHANGE", change)
    seen = watch(tmp_path, text)
    assert seen.warnings == []
    assert (seen.overwritten is not None) == found
    finding = next(result.finding for result in walk(seen) if result.code == "D103")
    assert (finding is not None) == found
    if finding is not None:
        assert finding.site is not None
        assert finding.site.source == "batch = self.rows[at]"
