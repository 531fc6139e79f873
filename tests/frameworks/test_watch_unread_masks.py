"""Layers that get a mask, or lengths, and pool without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import unread_masks
from tests.frameworks.watching import watch

TORCH = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
y = torch.randint(0, 2, (400,))
lengths = torch.randint(2, WIDTH + 1, (400,))
x = torch.randint(1, 20, (400, WIDTH)) + 5 * y[:, None]
x[torch.arange(WIDTH) >= lengths[:, None]] = 0
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(30, 16), nn.Linear(16, 2)
    def forward(self, x, mask):
        h = self.embed(x)
        POOL
        return self.out(pooled)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(2):
    for first in range(0, 400, 20):
        rows = x[first:first + 20]
        loss = F.cross_entropy(model(rows, (rows != 0).float()), y[first:first + 20])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import numpy as np
import keras
from keras import layers, ops
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 400)
x = rng.integers(1, 20, (400, 24)) + 5 * y[:, None]
x[np.arange(24) >= rng.integers(2, 25, (400, 1))] = 0
class MeanPool(layers.Layer):
    def call(self, inputs):
        vectors, mask = inputs
        return POOL
ids, mask = keras.Input((24,), dtype="int32"), keras.Input((24,))
made = layers.Dense(2)(MeanPool()([layers.Embedding(30, 16)(ids), mask]))
model = keras.Model([ids, mask], made)
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit([x, (x != 0).astype("float32")], y, batch_size=20, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("width", "pool", "line"), [
    (24, "pooled = h.mean(dim=1)", "pooled = h.mean(dim=1)"),
    (24, "pooled = (h * mask[..., None]).mean(1)", "pooled = (h * mask[..., None]).mean(1)"),
    (24, "h = h * mask[..., None]\n        pooled = torch.mean(h, 1)", "pooled = torch.mean(h, 1)"),
    (24, "pooled = (h * mask[..., None]).sum(1) / mask.size(1)", "pooled = (h * mask[..., None]).sum(1) / mask.size(1)"),
    (24, "pooled = torch.einsum('btd,bt->bd', h, mask) / h.shape[1]", "pooled = torch.einsum('btd,bt->bd', h, mask) / h.shape[1]"),
    (24, "pooled = (h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)", None),
    (24, "pooled = (h * mask[..., None]).mean(1) * x.shape[1] / mask.sum(1, keepdim=True)", None),
    (24, "pooled = h.masked_fill(mask[..., None] == 0, -9).amax(1)", None), (3, "pooled = h.mean(dim=1)", None)])
def test_of_torch(tmp_path: Path, width: int, pool: str, line: str | None) -> None:
    _told(watch(tmp_path, TORCH.replace("WIDTH", str(width)).replace("POOL", pool), probe_seconds=0.6), line)


@pytest.mark.parametrize(("pool", "line"), [
    ("ops.mean(vectors, axis=1)", "return ops.mean(vectors, axis=1)"),
    ("ops.sum(vectors * mask[..., None], axis=1) / ops.sum(mask, axis=1, keepdims=True)", None)])
def test_of_keras(tmp_path: Path, pool: str, line: str | None) -> None:
    pytest.importorskip("keras")
    _told(watch(tmp_path, KERAS.replace("POOL", pool), probe_seconds=0.6), line)


def _told(seen, line: str | None) -> None:
    told = next(each.finding for each in walk(seen) if each.code == "B102")
    assert (told is not None) is (line is not None), (seen.probes.real, seen.warnings)
    if told is not None:
        assert told.site is not None
        assert told.site.source == line


@pytest.mark.parametrize(("body", "line"), [
    ("def forward(self, x, lengths):\n        return self.lstm(x)[0][:, -1]", 3),
    ("def forward(self, x, lengths):\n        return self.lstm(x)[0][range(len(x)), lengths - 1]", None),
    ("def __call__(self, x, lengths):\n        states = self.lstm(x)\n        return states[:, -1, :]", 4),
    ("def forward(self, x, mask=None):\n        return x.mean(1)", None), ("def forward(self, x, kind):\n        return x.mean(1)", None),
    ("def helper(self, x, mask):\n        return x.mean(1)", None), ("def forward(self, x, mask):\n        return x.max(1)", None)])
def test_what_is_written(tmp_path: Path, body: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text("class Net(Module):\n    " + body + "\n")
    found = unread_masks.written(script)
    assert (found[1] if found else None) == line
