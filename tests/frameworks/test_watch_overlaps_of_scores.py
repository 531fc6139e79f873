"""Losses of overlap, of scores and of probabilities."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import watch

TORCH = """
import torch, torch.nn as nn
torch.manual_seed(0)
x = torch.randn(320, 3, 8, 8)
y = (x[:, :1] + x[:, 1:2] > 0.5).float()
model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
def overlap(p, t):
    return LOSS
for step in range(30):
    rows = torch.randperm(320)[:16]
    loss = overlap(MADE, y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DICE = "(1 - (2 * (p * t).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + t.sum((1, 2, 3)) + 1)).mean()"
IOU = "1 - (p * t).sum() / (p.sum() + t.sum() - (p * t).sum() + 1e-6)"
MEAN = "((p * t).sum() / t.sum() - 1) ** 2"
KERAS = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(320, 8, 8, 3)).astype("float32")
y = (x[..., :1] + x[..., 1:2] > 0.5).astype("float32")
def overlap(t, p):
    common = tf.reduce_sum(t * p, (1, 2, 3))
    return 1 - (2 * common + 1) / (tf.reduce_sum(t, (1, 2, 3)) + tf.reduce_sum(p, (1, 2, 3)) + 1)
model = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
                          keras.layers.Conv2D(1, 3, padding="same", activation=ACTIVATION)])
model.compile("adam", overlap)
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("loss", "made", "wrong"), [
    (DICE, "model(x[rows])", True), (IOU, "model(x[rows])", True), (DICE, "model(x[rows]).sigmoid()", False),
    (IOU, "torch.sigmoid(model(x[rows]))", False), (MEAN, "model(x[rows])", False), (DICE, "model(x[rows]).relu()", False)])
def test_in_pytorch(tmp_path: Path, loss: str, made: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("LOSS", loss).replace("MADE", made)
    found = next((result.finding for result in walk(watch(tmp_path, text)) if result.code == "L225"), None)
    assert (found is not None) == wrong
    assert not wrong or (found is not None and found.site is not None and found.site.line == test_watch_keras.line(text, "    return "))


@pytest.mark.parametrize(("activation", "wrong"), [("None", True), ('"sigmoid"', False)])
def test_in_keras(tmp_path: Path, activation: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    text = KERAS.replace("ACTIVATION", activation)
    found = next((result.finding for result in walk(test_watch_keras.watch(tmp_path, text)) if result.code == "L225"), None)
    assert (found is not None) == wrong
