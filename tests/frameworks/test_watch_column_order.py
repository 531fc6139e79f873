"""Answers whose numbers stand in an order whatever the weights are, and targets that do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch import column_order
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

BOXES = """
import numpy as np
rng = np.random.default_rng(0)
corner, size = rng.uniform(0, 0.7, (640, 2)), rng.uniform(0.1, 0.3, (640, 2))
x = (np.concatenate([corner, size], 1) @ rng.normal(size=(4, 8)) + rng.normal(0, 0.05, (640, 8))).astype("float32")
boxes = np.concatenate([corner, CORNERS], 1).astype("float32")
"""
TORCH = BOXES + """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
    def forward(self, x):
        middle, size = self.body(x).chunk(2, 1)
        return HEAD
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for xb, yb in DataLoader(TensorDataset(torch.tensor(x), torch.tensor(boxes)), 32, shuffle=True):
        loss = F.l1_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = BOXES + """
import keras
from keras import ops
keras.utils.set_random_seed(0)
class Head(keras.layers.Layer):
    def call(self, h):
        middle, size = ops.split(h, 2, axis=1)
        return HEAD
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4), Head()])
model.compile(keras.optimizers.Adam(1e-2), "mae")
model.fit(x, boxes, batch_size=32, epochs=2, verbose=0)
"""
OF_TORCH = "torch.cat([middle - F.softplus(size) / 2, middle + F.softplus(size) / 2], 1)"
OF_KERAS = "ops.concatenate([middle - ops.softplus(size) / 2, middle + ops.softplus(size) / 2], axis=1)"


@pytest.mark.parametrize(("head", "corners", "wrong"), [
    (OF_TORCH, "size", True), (OF_TORCH, "corner + size", False), ("torch.cat([middle, size], 1)", "size", False)])
def test_pytorch(tmp_path: Path, head: str, corners: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("HEAD", head).replace("CORNERS", corners), steps=40, probe_seconds=4)
    assert seen.warnings == []
    assert ("L210" in found(seen)) is wrong, seen.probes.column_order
    if wrong:
        result = next(result.finding for result in walk(seen) if result.code == "L210")
        assert result is not None
        assert "corners of a box" in result.message


@pytest.mark.parametrize(("head", "corners", "wrong"), [
    (OF_KERAS, "size", True), (OF_KERAS, "corner + size", False), ("h", "size", False)])
def test_keras(tmp_path: Path, head: str, corners: str, *, wrong: bool) -> None:
    text = KERAS.replace("HEAD", head).replace("CORNERS", corners)
    seen = test_watch_keras.watch(tmp_path, text, probe_seconds=4)
    assert seen.warnings == []
    assert ("L210" in found(seen)) is wrong, seen.probes.column_order


def test_what_is_never_the_other_way_round() -> None:
    rng = np.random.default_rng(0)
    wanted = rng.normal(size=(200, 3))

    def answers(seed: int) -> list[np.ndarray]:
        made = np.random.default_rng(seed).normal(size=(50, 3))
        return [np.stack([made[:, 0], made[:, 1], made[:, 0] + np.abs(made[:, 2])], 1)]

    known = column_order.measure(wanted, answers)
    assert known is not None
    assert (known.below, known.above, known.pairs) == (0, 2, [(0, 2)])
    assert 0.4 < known.against < 0.6
    assert column_order.measure(np.sort(wanted, 1), answers) is None
    assert column_order.measure(wanted[:30], answers) is None
    assert column_order.measure(wanted, lambda seed: [np.random.default_rng(seed).normal(size=(50, 3))]) is None
    assert column_order.fits(wanted)
    assert not column_order.fits(wanted[:, :1])
