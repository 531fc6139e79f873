"""Batches that overlap, in both frameworks and for themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.checks.data_facts import BatchFacts
from harness.frameworks.watch.overlaps import Overlaps
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch

TORCH = """
import torch, torch.nn as nn
torch.manual_seed(0)
x = torch.randn(600, 8)
y = x[:, 0] * 2 - x[:, 1] + 0.1 * torch.randn(600)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
size = 32
for epoch in range(3):
    for i in STEPS:
        xb, yb = x[i:i + size], y[i:i + size]
        loss = ((model(xb).squeeze(1) - yb) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import keras, numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 8)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int64")
class Rows(keras.utils.PyDataset):
    def __len__(self):
        return 10
    def __getitem__(self, index):
        low = FROM
        return x[low:low + 32], y[low:low + 32]
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(Rows(), epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("steps", "wrong"), [("range(len(x) // size)", True), ("range(0, len(x) - size, size)", False)])
def test_a_loop(tmp_path: Path, steps: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("STEPS", steps), probe_seconds=0.5)
    assert seen.batches[1].moved is not None, seen.warnings
    assert ("D112" in found(seen)) is wrong, [batch.moved for batch in seen.batches]
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "D112")
        assert told is not None
        assert told.site is not None
        assert "x[i:i + size]" in told.site.source


@pytest.mark.parametrize(("first", "wrong"), [("index", True), ("index * 32", False)])
def test_a_sequence_of_keras(tmp_path: Path, first: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("FROM", first), probe_seconds=0.5)
    assert seen.batches[1].moved is not None, seen.warnings
    assert ("D112" in found(seen)) is wrong, [batch.moved for batch in seen.batches]


def test_rows_that_two_batches_share() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), np.arange(200)
    seen = Overlaps()
    assert seen.moved(x[:32], y[:32]) is None
    assert seen.moved(x[5:37], y[5:37]) == 5
    assert seen.moved(x[2:34], y[2:34]) == 2
    assert seen.moved(x[2:34], y[2:34]) is None  # the same again: another epoch
    assert seen.moved(x[100:132], y[100:132]) == 0
    assert seen.moved(x[130:162], y[130:162]) == 0  # two rows may well come twice
    assert seen.moved(np.zeros((32, 3)), np.zeros(32)) is None  # rows that are all one


def test_all_batches_count() -> None:
    seen = healthy()
    seen.batches = [BatchFacts(moved=moved) for moved in (None, 1, 3)]
    assert judge("D112", seen).startswith("fewer than four")
    seen.batches.append(BatchFacts(moved=0))
    assert judge("D112", seen) == "clean"
    seen.batches[-1].moved = 2
    assert "1 on from one another" in finding("D112", seen).message
