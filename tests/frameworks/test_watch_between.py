"""Rows of an evaluation that were made of two rows of the training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch.between import Between
from tests.frameworks.watching import found, watch

SMOTE = """
import numpy as np, torch, torch.nn as nn
rng = np.random.default_rng(0)
torch.manual_seed(0)
x = rng.normal(size=(1200, 6))
y = (x[:, 0] + x[:, 1] > 1.8).astype("float32")
def smote(x, y):
    rare = x[y == 1]
    near = np.argsort(((rare[:, None] - rare[None]) ** 2).sum(-1), 1)[:, 1:6]
    base = rng.integers(0, len(rare), 800)
    mate = near[base, rng.integers(0, 5, 800)]
    new = rare[base] + rng.random((800, 1)) * (rare[mate] - rare[base])
    return np.vstack([x, new]), np.concatenate([y, np.ones(800, "float32")])
FIRST
order = rng.permutation(len(x))
cut = len(x) * 3 // 4
x_train, y_train, x_test, y_test = x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]]
THEN
middle, spread = x_train.mean(0), x_train.std(0)
x_train, x_test = (torch.tensor((part - middle) / spread, dtype=torch.float32) for part in (x_train, x_test))
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(4):
    for start in range(0, len(x_train), 64):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(x_train[start:start + 64]).squeeze(1), y_train[start:start + 64])
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    print(((model(x_test).squeeze(1) > 0).float() == y_test).float().mean())
"""


@pytest.mark.parametrize(("first", "then", "fault"), [
    ("x, y = smote(x, y)", "", True), ("", "x_train, y_train = smote(x_train, y_train)", False), ("", "", False)])
def test_rows_that_are_made(tmp_path: Path, first: str, then: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SMOTE.replace("FIRST", first).replace("THEN", then), steps=200, probe_seconds=1)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E510" in found(seen)) == fault, seen.evaluation.shared


@pytest.mark.parametrize(("columns", "values", "straight"), [(6, None, False), (6, 3, False), (2, None, False), (6, None, True)])
def test_rows_in_line_by_chance(columns: int, values: int | None, *, straight: bool) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(800, columns))
    if straight:
        rows = rows[:, :1] * np.ones(columns)
    if values is not None:
        rows = np.round(rows * values)
    known = Between()
    known.trained(rows[:600].astype("float32"))
    known.held(rows[600:].astype("float32"))
    assert known.facts()[1] == 0
