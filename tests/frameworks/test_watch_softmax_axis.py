"""A softmax of single numbers, in both frameworks, and those that are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import neighbours
from tests.frameworks.watching import found, watch

TORCH = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(320, 6, 8)
y = (x[:, :, 0].max(1).values > 1).long()
class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.soft, self.head = nn.Linear(8, 1), nn.Softmax(dim=DIM), nn.Linear(8, 2)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
    def forward(self, x):
        scores = self.score(x)
        weights = SOFTMAX
        return self.head((weights * x).sum(1))
model = Pool()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for first in range(0, 320, 16):
        loss = F.cross_entropy(model(x[first:first + 16]), y[first:first + 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import keras
import numpy as np
from keras import ops
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 6, 8)).astype("float32")
y = (x[:, :, 0].max(1) > 1).astype("int32")
class Pool(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.score = keras.layers.Dense(1)
    def call(self, x):
        weights = ops.softmax(self.score(x), axis=AXIS)
        return ops.sum(weights * x, axis=1)
model = keras.Sequential([keras.Input((6, 8)), Pool(), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("softmax", "dim", "wrong"), [
    ("torch.softmax(scores, dim=-1)", 0, True), ("scores.softmax(2)", 0, True), ("self.soft(scores)", -1, True),
    ("torch.softmax(scores, dim=1)", 0, False), ("self.soft(scores)", 1, False),
    ("self.attend(x[:, :1], x[:, :1], x)[0] + torch.softmax(scores, dim=1)", 0, False)])
def test_torch(tmp_path: Path, softmax: str, dim: int, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("SOFTMAX", softmax).replace("DIM", str(dim)))
    assert (found(seen)[:1] == ["F106"]) is wrong, (found(seen), seen.warnings)
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.code == "F106")
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == f"weights = {softmax}"
        assert "[16, 6, 1]" in finding.evidence[0]


@pytest.mark.parametrize(("axis", "wrong"), [(-1, True), (1, False)])
def test_keras(tmp_path: Path, axis: int, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("AXIS", str(axis)))
    assert (found(seen)[:1] == ["F106"]) is wrong, (found(seen), seen.warnings)
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.code == "F106")
        assert finding is not None
        assert finding.site is not None
        assert "ops.softmax" in finding.site.source


@pytest.mark.parametrize(("shape", "axis", "one"), [
    ((4, 6, 1), -1, True), ((4, 1, 6), 1, True), ((4, 2, 1, 6), 2, True), ((4, 1, 5, 5), 1, True), ((4, 6, 1), 1, False),
    ((4, 1), 1, False), ((4, 2, 1, 1), -1, False), ((1, 6, 6), 0, False)])
def test_which_axes_are_meant(shape: tuple[int, ...], axis: int, *, one: bool) -> None:
    assert neighbours.of_one(shape, axis) is one
