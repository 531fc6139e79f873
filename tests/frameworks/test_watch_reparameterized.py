"""Draws of a variational autoencoder whose spread is another one than the divergence's."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import watch

TORCH = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.tanh(torch.randn(640, 3) @ torch.randn(3, 12)) + 0.05 * torch.randn(640, 12)
class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(12, 32)
        self.code, self.out = nn.Linear(32, 6), nn.Linear(3, 12)
    def draw(self, mean, s):
        noise = torch.randn_like(mean)
        return mean + noise * SPREAD
    def forward(self, x):
        mean, s = self.code(torch.relu(self.inner(x))).chunk(2, dim=1)
        return self.out(self.draw(mean, s)), mean, s
model = Coder()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(30):
    rows = x[torch.randperm(640)[:32]]
    made, mean, s = model(rows)
    loss = F.mse_loss(made, rows) + 0.01 * (DIVERGENCE).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
KERAS = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = np.tanh(rng.normal(size=(640, 3)) @ rng.normal(size=(3, 12))).astype("float32")
class Coder(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Dense(32, activation="relu")
        self.mean, self.s, self.out = keras.layers.Dense(3), keras.layers.Dense(3), keras.layers.Dense(12)
    def call(self, x):
        inner = self.inner(x)
        mean, s = self.mean(inner), self.s(inner)
        self.add_loss(0.01 * tf.reduce_mean(tf.reduce_sum(DIVERGENCE, 1)))
        return self.out(mean + DRAWN * SPREAD)
model = Coder()
model.compile("adam", "mse")
model.fit(x, x, epochs=2, verbose=0)
"""
OF_VARIANCE = "0.5 * (mean ** 2 + EXP(s) - 1 - s)"
OF_DEVIATION = "0.5 * (mean ** 2 + EXP(2 * s) - 1 - 2 * s)"
CASES = [("EXP(0.5 * s)", OF_VARIANCE, False), ("EXP(s)", OF_DEVIATION, False), ("EXP(s)", OF_VARIANCE, True), ("s", OF_VARIANCE, True),
         ("EXP(0.5 * s)", OF_DEVIATION, True)]


@pytest.mark.parametrize(("spread", "divergence", "wrong"), [
    *CASES, ("EXP(s).sqrt()", OF_VARIANCE, False), ("(1e-6 + (s / 2).exp())", OF_VARIANCE, False),
    ("EXP(s)", "EXP(s) ** 2 - s + mean ** 2", False),
    ("F.softplus(s)", "mean ** 2 + F.softplus(s) ** 2 - F.softplus(s).log()", False)])
def test_in_pytorch(tmp_path: Path, spread: str, divergence: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("SPREAD", spread).replace("DIVERGENCE", divergence).replace("EXP", "torch.exp")
    seen = watch(tmp_path, text)
    found = next((result.finding for result in walk(seen) if result.code == "F115"), None)
    assert (found is not None) == wrong
    assert not wrong or (found is not None and found.site is not None
                         and found.site.line == test_watch_keras.line(text, "return mean + noise"))


@pytest.mark.parametrize("drawn", ["tf.random.normal(tf.shape(mean))", "keras.random.normal((tf.shape(mean)[0], 3))"])
@pytest.mark.parametrize(("spread", "divergence", "wrong"), CASES)
def test_in_keras(tmp_path: Path, drawn: str, spread: str, divergence: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    text = KERAS.replace("SPREAD", spread).replace("DIVERGENCE", divergence).replace("DRAWN", drawn).replace("EXP", "tf.exp")
    seen = test_watch_keras.watch(tmp_path, text)
    found = next((result.finding for result in walk(seen) if result.code == "F115"), None)
    assert (found is not None) == wrong
    assert not wrong or (found is not None and found.site is not None and found.site.line == test_watch_keras.line(text, "self.out(mean +"))
