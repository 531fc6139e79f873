"""Features that share one mean and one deviation, of which one drowns the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import one_scale
from tests.frameworks.watching import found, watch

WINDOWS = """
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
rng = np.random.default_rng(0)
torch.manual_seed(0)
y = rng.integers(0, 3, 1500)
x = rng.normal(size=(1500, 20, 4))
x[:, :, 2] += 2 * (y[:, None] - 1)
x[:, :, 3] *= 1 + y[:, None]
x = np.array([1e5, 300.0, 0.0, 0.0]) + np.array([900.0, 5.0, 0.02, 0.02]) * x
mean, std = STATISTICS
x = torch.tensor((x - mean) / std, dtype=torch.float32)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Conv1d(4, 24, 5), nn.Conv1d(24, 24, 5), nn.Linear(24, 3)
    def forward(self, x):
        h = torch.relu(self.b(torch.relu(self.a(x.transpose(1, 2)))))
        return self.out(h.mean(-1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for xb, yb in DataLoader(TensorDataset(x, torch.from_numpy(y)), batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("statistics", "fault"), [
    ("x.mean(axis=(0, 2), keepdims=True), x.std(axis=(0, 2), keepdims=True)", True),
    ("x.mean(), x.std()", True),
    ("x.mean(axis=(0, 1)), x.std(axis=(0, 1))", False)])
def test_windows(tmp_path: Path, statistics: str, *, fault: bool) -> None:
    seen = watch(tmp_path, WINDOWS.replace("STATISTICS", statistics), steps=200, probe_seconds=6)
    assert ("D108" in found(seen)) is fault, (found(seen), seen.probes.train_standardised, seen.probes.train)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source.startswith("mean, std =")


@pytest.mark.parametrize(("text", "line"), [
    ("x = 1\nsd = train.std()", 2), ("sd = np.std(train)", 1), ("sd = np.std(train, axis=(0, 2))", 1), ("sd = train.std(0)", None),
    ("sd = np.std(train, 0)", None), ("sd = train.std(axis=0)", None), ("sd = tf.math.reduce_std(x, axis=0)", None)])
def test_what_is_written(tmp_path: Path, text: str, line: int | None) -> None:
    path = tmp_path / "train.py"
    path.write_text(text)
    place = one_scale.written(path)
    assert (place[1] if place else None) == line
