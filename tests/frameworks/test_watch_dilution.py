"""Means over the steps of rows that count padding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch import dilution
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import found, watch

ROWS = """
import numpy as np
rng = np.random.default_rng(0)
x, length, y = np.zeros((1200, 40, 6), "float32"), rng.integers(4, 41, 1200), np.zeros(1200, "float32")
for i, steps in enumerate(length):
    x[i, :steps] = rng.normal(size=(steps, 6)) + rng.normal(size=6)
    y[i] = x[i, :steps, 0].mean() - 2 * x[i, :steps, 1].mean() + 3
y = (y - y.mean()) / y.std()
"""
TORCH = ROWS + """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, y = torch.from_numpy(x), torch.from_numpy(y)
train, test = TensorDataset(x[:1000], y[:1000]), TensorDataset(x[1000:], y[1000:])
class Level(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.out = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32)), nn.Linear(32, 1)
    def forward(self, x):
        mask = (x != 0).any(-1, keepdim=True).float()
        h = self.step(x) * mask
        return self.out(POOLED)[:, 0]
model = Level()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for xb, yb in DataLoader(train, batch_size=32, shuffle=True):
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(sum(nn.functional.mse_loss(model(xb), yb).item() for xb, yb in DataLoader(test, batch_size=200)))
    model.train()
"""


@pytest.mark.parametrize(("pooled", "fault"), [
    ("h.mean(dim=1)", True), ("h.sum(1) / 40", True), ("h.sum(1) / mask.sum(1)", False), ("h.max(1).values", False)])
def test_torch(tmp_path: Path, pooled: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TORCH.replace("POOLED", pooled), steps=250)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("B102" in found(seen)) is fault, seen.evaluation.relation
    if fault:
        assert pooled in seen.sites["pooled"].source


@pytest.mark.parametrize(("pooled", "fault"), [
    ("keras.layers.GlobalAveragePooling1D()(h * m)", True),
    ("keras.layers.GlobalAveragePooling1D()(h, mask=keras.ops.squeeze(m, -1) > 0)", False)])
def test_keras(tmp_path: Path, pooled: str, *, fault: bool) -> None:
    text = small.HEAD.replace("NAME", "keras") + ROWS + f"""
inputs, m = keras.Input((40, 6)), keras.Input((40, 1))
h = keras.layers.Dense(32)(keras.layers.Dense(32, activation="relu")(inputs))
model = keras.Model([inputs, m], keras.layers.Dense(1)({pooled}))
model.compile(keras.optimizers.Adam(0.01), "mse")
mask = (np.arange(40)[None, :] < length[:, None]).astype("float32")[..., None]
parts = [x[:1000], mask[:1000]], y[:1000]
model.fit(*parts, validation_data=([x[1000:], mask[1000:]], y[1000:]), batch_size=32, epochs=8, verbose=0)
"""
    seen = small.watch(tmp_path, text, steps=250)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("B102" in found(seen)) is fault, seen.evaluation.relation


def test_shares() -> None:
    mask = np.arange(10)[None, :] < np.array([3, 5, 7, 10, 2, 9])[:, None]
    share = dilution.shares([mask.astype("int64")], 6)
    assert share is not None
    assert share.tolist() == pytest.approx([0.3, 0.5, 0.7, 1.0, 0.2, 0.9])
    assert dilution.shares([np.ones((6, 10))], 6) is None
    assert dilution.shares([np.ones((6, 10))], 5) is None
