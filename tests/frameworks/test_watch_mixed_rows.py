"""Mixup: rows and labels with the same shares, or with each other's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch.mixed_rows import MixedRows
from tests.frameworks.watching import found, watch

TORCH = """
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
y = torch.randint(0, 4, (1200,))
x = torch.randn(1200, 12) + 2 * F.one_hot(y, 12)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
beta = torch.distributions.Beta(0.4, 0.4)
for epoch in range(3):
    for rows in torch.randperm(1200).split(40):
        share, order = float(beta.sample()), torch.randperm(40)
        mixed, one, other = share * x[rows] + (1 - share) * x[rows][order], y[rows], y[rows][order]
        out = model(mixed)
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
TWO = "FIRST * F.cross_entropy(out, one) + SECOND * F.cross_entropy(out, other)"
SOFT = "F.cross_entropy(out, FIRST * F.one_hot(one, 4).float() + SECOND * F.one_hot(other, 4).float())"


@pytest.mark.parametrize("loss", [TWO, SOFT])
@pytest.mark.parametrize("wrong", [True, False])
def test_torch(tmp_path: Path, loss: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    first, second = ("(1 - share)", "share") if wrong else ("share", "(1 - share)")
    seen = watch(tmp_path, TORCH.replace("LOSS", loss.replace("FIRST", first).replace("SECOND", second)), steps=60)
    assert seen.mixed_rows is not None
    assert ("D106" in found(seen)) is wrong, (found(seen), seen.mixed_rows)


def test_labels_that_are_not_mixed_of_two() -> None:
    rows = MixedRows()
    one_hot = np.eye(3, dtype=np.float32)[np.arange(600) % 3]
    rows.trained(np.ones((600, 4), dtype=np.float32), one_hot)
    rows.trained(np.ones((600, 4), dtype=np.float32), 0.9 * one_hot + 0.1 / 3)  # smoothed
    rows.trained(np.ones((600, 4), dtype=np.float32), None)
    assert rows.measure() is None
