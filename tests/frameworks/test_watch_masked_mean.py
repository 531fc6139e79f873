"""Masks and weights that multiply a loss of one number, in both frameworks."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

TORCH = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
ids = torch.randint(1, 12, (320, 9))
for row, length in enumerate(torch.randint(3, 9, (320,)).tolist()):
    ids[row, length:] = 0
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn, self.out = nn.Embedding(12, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, 12)
    def forward(self, x):
        return self.out(self.rnn(self.table(x))[0])
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for batch in ids.split(32):
        target = (batch * 5) % 12
        mask = (batch != 0).float()
        scores = model(batch).flatten(0, 1)
        LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
EACH = "each = F.cross_entropy(scores, target.flatten(), reduction='none').view(mask.shape)"
MEAN = "each = F.cross_entropy(scores, target.flatten())"


@pytest.mark.parametrize(("lines", "wrong"), [
    (f"{MEAN}; loss = (each * mask).sum() / mask.sum()", True), (f"{MEAN}; loss = (mask * each).mean()", True),
    (f"{EACH}; loss = (each * mask).sum() / mask.sum()", False), (f"{MEAN}; loss = each * mask.mean()", False),
    (f"{MEAN}; loss = (each * torch.ones_like(mask)).mean()", False), (f"{MEAN}; loss = 0.5 * each", False)])
def test_torch(tmp_path: Path, lines: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("LOSS", lines), probe_seconds=0.3)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L229" in found(seen)) is wrong, seen.masked_mean
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "L229")
        assert told is not None
        assert told.site is not None
        assert "cross_entropy" in told.site.source
        assert "(32, 9)" in told.message


KERAS = """
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
ids = rng.integers(1, 12, (320, 9))
for row, length in enumerate(rng.integers(3, 9, 320)):
    ids[row, length:] = 0
model = keras.Sequential([keras.Input((9,)), keras.layers.Embedding(12, 16), keras.layers.GRU(16, return_sequences=True),
                          keras.layers.Dense(12)])
optimizer = keras.optimizers.Adam(1e-2)
whole = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
parts = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
for epoch in range(3):
    for batch in tf.data.Dataset.from_tensor_slices(ids).batch(32):
        mask = tf.cast(batch != 0, tf.float32)
        with tf.GradientTape() as tape:
            scores, target = model(batch, training=True), (batch * 5) % 12
            loss = LOSS
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize(("loss", "wrong"), [
    ("tf.reduce_sum(whole(target, scores) * mask) / tf.reduce_sum(mask)", True), ("tf.reduce_mean(mask * whole(target, scores))", True),
    ("tf.reduce_sum(parts(target, scores) * mask) / tf.reduce_sum(mask)", False), ("0.5 * whole(target, scores)", False)])
def test_tapes(tmp_path: Path, loss: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("LOSS", loss), probe_seconds=0.3)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L229" in found(seen)) is wrong, seen.masked_mean
