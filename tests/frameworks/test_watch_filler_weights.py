"""Scores of a script's own, of which a mask hides the text and leaves the filler."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, walk, watch

TORCH = """
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
ids = torch.randint(2, 30, (400, 12))
labels = (ids[:, 0] > 15).long()
ids[torch.arange(12) >= torch.randint(5, 13, (400, 1))] = 0
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places, self.sides = nn.Embedding(30, 16), nn.Parameter(0.1 * torch.randn(12, 16)), nn.Linear(16, 48)
        self.pool, self.head = nn.Linear(16, 1), nn.Linear(16, 2)
    def forward(self, ids):
        mask = ids != 0
        x = self.tokens(ids) + self.places
        q, k, v = self.sides(x).view(len(x), 12, 3, 2, 8).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(8)
        MIXED
        x = x + mixed.transpose(1, 2).reshape(x.shape)
        POOLED
        return self.head(x)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for rows in torch.randperm(400).split(20):
        optimizer.zero_grad()
        F.cross_entropy(model(ids[rows]), labels[rows]).backward()
        optimizer.step()
"""
READ = "mixed = scores.masked_fill(~mask[:, None, None], float('-inf')).softmax(-1) @ v"
FIRST = "x = x[:, 0]"


@pytest.mark.parametrize(("mixed", "pooled", "line"), [
    ("bias = mask[:, None, None].float() * -1e4\n        mixed = (scores + bias).softmax(-1) @ v", FIRST, "bias = "),
    ("scores = scores.masked_fill(mask[:, None, None] & ~mask.all(1)[:, None, None, None], -1e9)\n        mixed = scores.softmax(-1) @ v",
     FIRST, "scores = scores.masked_fill"),
    ("mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=(1 - mask[:, None, None].float()) * -1e4)", FIRST, None),
    ("mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None].float() * -1e4)", FIRST, "mixed = F.scaled"),
    ("wrong = ~mask | mask.all(1, keepdim=True)\n        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=wrong[:, None, None])",
     FIRST, "mixed = F.scaled"),
    (READ, "weights = (self.pool(x) + mask[:, :, None] * -1e4).softmax(1)\n        x = (weights * x).sum(1)", ""),
    (READ, "weights = (self.pool(x) + ~mask[:, :, None] * -1e4).softmax(1)\n        x = (weights * x).sum(1)", None),
    (READ, FIRST, None),
    ("mixed = scores.softmax(-1) @ v", FIRST, None)],
    ids=["added", "filled", "one call", "one call, the wrong way", "one call, of truths", "pooled, the wrong way", "pooled", "read",
         "no mask"])
def test_torch(tmp_path: Path, mixed: str, pooled: str, line: str | None) -> None:
    seen = watch(tmp_path, TORCH.replace("MIXED", mixed).replace("POOLED", pooled), probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert (found(seen) == ["B102"]) is (line is not None)
    if line:
        told = next(result.finding for result in walk(seen) if result.finding)
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith(line)
        assert "over the filler" in told.message


KERAS = """
import keras, numpy as np, tensorflow as tf
from keras import layers
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
ids = rng.integers(2, 30, (400, 12)).astype("int32")
lengths = rng.integers(4, 10, 400)
label = (ids[:, 0] > 15).astype("int32")
ids[np.arange(12) >= lengths[:, None]] = 0
class Attention(layers.Layer):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = layers.Dense(16), layers.Dense(16), layers.Dense(16)
    def call(self, x, mask):
        scores = tf.matmul(self.q(x), self.k(x), transpose_b=True) / 4.0
        scores += HIDDEN
        return tf.matmul(SOFTMAX, self.v(x))
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = layers.Embedding(30, 16), layers.Embedding(12, 16)
        self.attention, self.head = Attention(), layers.Dense(2)
    def call(self, ids):
        mask = tf.cast(ids != 0, "float32")[:, None, :]
        x = self.tokens(ids) + self.places(tf.range(12))
        return self.head((x + self.attention(x, mask))[:, 0])
model = Net()
model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ids, label, batch_size=20, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("softmax", ["tf.nn.softmax(scores)", "keras.ops.softmax(scores, axis=-1)"])
@pytest.mark.parametrize(("hidden", "wrong"), [("mask * -1e9", True), ("(1.0 - mask) * -1e9", False), ("0.0 * mask", False)])
def test_keras(tmp_path: Path, softmax: str, hidden: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("SOFTMAX", softmax).replace("HIDDEN", hidden))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("B102" in found(seen)) is wrong
    if wrong:
        assert seen.inverted is not None
        assert seen.inverted.site is not None
        assert seen.inverted.site.source == "scores += mask * -1e9"
