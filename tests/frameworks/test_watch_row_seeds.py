"""Datasets that draw the same for a row in every epoch, because the row seeds the generator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, LOOP, found, watch

TORCH = HEAD + """
import numpy as np
class Rows(torch.utils.data.Dataset):
    def __init__(self, x, y, seed=0):
        self.x, self.y, self.seed, self.epoch, self.rng = x, y, seed, 0, np.random.default_rng(seed)
    def __len__(self):
        return len(self.y)
    def __getitem__(self, number):
        DRAW
        row = ROW
        return row + 0.1 * torch.from_numpy(rng.normal(size=row.shape)).float(), self.y[number]
train = DataLoader(Rows(X[:320], y[:320]), batch_size=40, shuffle=True)
""" + LOOP
KERAS = test_watch_keras.HEAD + test_watch_keras.MODEL + """
class Rows(keras.utils.PyDataset):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y, self.rng = x, y, np.random.default_rng(0)
    def __len__(self):
        return len(self.y) // 40
    def __getitem__(self, number):
        DRAW
        rows = self.x[40 * number:40 * number + 40]
        return rows + 0.1 * rng.normal(size=rows.shape), self.y[40 * number:40 * number + 40]
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(Rows(x, y), epochs=3, verbose=0)
"""


@pytest.mark.parametrize(("draw", "row", "wrong"), [
    ("rng = np.random.default_rng(1000 * self.seed + number)", "self.x[number]", True),
    ("rng = np.random.RandomState(number)", "self.x[number]", True),
    ("rng = np.random.default_rng((self.seed, self.epoch, number))", "self.x[number]", False),
    ("rng = self.rng", "self.x[number]", False),
    ("rng = np.random.default_rng(number)", "torch.from_numpy(rng.normal(size=10)).float()", False)])  # rows that are made up
def test_of_torch(tmp_path: Path, draw: str, row: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("DRAW", draw).replace("ROW", row), probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("D109" in found(seen)) is wrong
    assert not wrong or seen.sites["seeded_rows"].source == draw


@pytest.mark.parametrize(("draw", "wrong"), [("rng = np.random.default_rng(number)", True), ("rng = self.rng", False)])
def test_of_keras(tmp_path: Path, draw: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("NAME", "keras").replace("DRAW", draw), steps=24, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("D109" in found(seen)) is wrong
