"""Losses of quantiles that pull to the opposite ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import watch

TORCH = """
import torch, torch.nn as nn
torch.manual_seed(0)
x = torch.randn(640, 6)
y = x[:, 0] + 2 * torch.randn(640).abs()
levels = torch.tensor([0.1, 0.5, 0.9])
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
def pinball(made, wanted):
    e = DIFFERENCE
    return torch.maximum(levels * e, (levels - 1) * e).mean()
for epoch in range(3):
    for start in range(0, 640, 64):
        loss = pinball(model(x[start:start + 64]), y[start:start + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import numpy as np, keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 6)).astype("float32")
y = (x[:, 0] + 2 * np.abs(rng.normal(size=640))).astype("float32")[:, None]
def loss_of(true, made, quantile=0.9):
    e = DIFFERENCE
    return keras.ops.mean(keras.ops.maximum(quantile * e, (quantile - 1) * e))
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(3e-3), loss_of)
model.fit(x, y, batch_size=64, epochs=3, verbose=0)
"""


@pytest.mark.parametrize(("difference", "learnt"), [("wanted[:, None] - made", None), ("made - wanted[:, None]", [0.9, 0.5, 0.1])])
def test_in_pytorch(tmp_path: Path, difference: str, learnt: list[float] | None) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("DIFFERENCE", difference)
    seen = watch(tmp_path, text)
    finding = next((result.finding for result in walk(seen) if result.code == "L227"), None)
    assert (seen.quantiles.learnt if seen.quantiles else None) == (None if learnt is None else pytest.approx(learnt, abs=0.01))
    assert (finding is not None) == (learnt is not None)
    assert finding is None or (finding.site is not None and finding.site.line == test_watch_keras.line(text, "    e ="))


def test_errors_of_one_sign_tell_nothing(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("DIFFERENCE", "made - wanted[:, None]").replace("torch.maximum(levels * e, (levels - 1) * e)", "e.abs()")
    assert watch(tmp_path, text).quantiles is None


@pytest.mark.parametrize(("difference", "wrong"), [("true - made", False), ("made - true", True)])
def test_in_keras(tmp_path: Path, difference: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("DIFFERENCE", difference))
    assert ("L227" in [result.code for result in walk(seen) if result.state == "found"]) == wrong
