"""Rows that a dataset changes at random with each reading, until little of them is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

ROWS = """
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 3, COUNT)
x = rng.normal(0, 0.5, (COUNT, 24)).astype("float32")
x[np.arange(COUNT), y * 8] += 3
class Cover:
    def __init__(self, deviation):
        self.deviation, self.rng = deviation, np.random.default_rng(1)
    def __call__(self, row):
        return row + self.rng.normal(0, self.deviation, row.shape).astype("float32")
class Rows(Dataset):
    def __init__(self, x, y, change):
        self.x, self.y, self.change = x, y, change
    def __len__(self):
        return len(self.y)
    def __getitem__(self, number):
        return torch.from_numpy(self.change(self.x[number]) / SCALE), int(self.y[number])
change = Cover(DEVIATION)
loader = DataLoader(Rows(x, LABELS, change), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for epoch in range(6):
    for rows, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("count", "deviation", "labels", "code", "says"), [
    ("4800", "40.0", "y", "D106", "The augmentation leaves nothing"), ("4800", "0.2", "y", None, ""),
    ("4800", "0.2", "rng.permutation(y)", "D106", "The labels tell nothing"),
    ("900", "0.2", "rng.permutation(y)", "D106", "The labels tell nothing")])
def test_what_is_left_of_a_row(tmp_path: Path, count: str, deviation: str, labels: str, code: str | None, says: str) -> None:
    """The last: each row comes in several passes, changed a little, and a baseline would know its label from the pass before."""
    text = ROWS.replace("COUNT", count).replace("DEVIATION", deviation).replace("LABELS", labels)
    seen = watch(tmp_path, text.replace("SCALE", str(1 + float(deviation))), steps=60, patient_steps=140, probe_seconds=8.0)
    assert seen.redrawn is not None
    assert (seen.redrawn.same > 0.7 * seen.redrawn.other) == (deviation == "40.0")
    assert found(seen) == ([code] if code else [])
    if code:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert says in finding.message
        if deviation == "40.0":
            assert finding.site is not None
            assert finding.site.source == "change = Cover(40.0)"
