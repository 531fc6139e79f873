"""Losses of single rows that are multiplied by weights of another shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

TORCH = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(640, 10)
train = TensorDataset(x, (x[:, 0] + x[:, 1] > 0).long(), WEIGHTS)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(2):
    for xb, yb, wb in DataLoader(train, 32, shuffle=True):
        per_row = F.cross_entropy(model(xb), yb, reduction="none")
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 10)).astype("float32")
y, w = (x[:, 0] > 0).astype("int32"), WEIGHTS
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
optimizer = keras.optimizers.Adam(1e-2)
@tf.function
def step(xb, yb, wb):
    with tf.GradientTape() as tape:
        per_row = PER_ROW
        loss = LOSS
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for xb, yb, wb in tf.data.Dataset.from_tensor_slices((x, y, w)).batch(32).repeat(2):
    step(xb, yb, wb)
"""
FUNCTION = "keras.losses.sparse_categorical_crossentropy(yb, model(xb, training=True), from_logits=True)"
OBJECT = "keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction='none')(yb, model(xb, training=True))"


@pytest.mark.parametrize(("weights", "loss", "wrong"), [
    ("torch.rand(640, 1)", "(per_row * wb).mean()", True), ("torch.rand(640, 1)", "(wb * per_row).sum() / wb.sum()", True),
    ("torch.rand(640, 1)", "(per_row * wb.squeeze(1)).mean()", False), ("torch.rand(640)", "(per_row * wb).mean()", False),
    ("torch.rand(640)", "(per_row[:, None] * wb[None]).mean()", False)])
def test_pytorch(tmp_path: Path, weights: str, loss: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("WEIGHTS", weights).replace("LOSS", loss), steps=24, probe_seconds=0.3)
    assert seen.warnings == []
    assert ("L203" in found(seen)) is wrong, seen.paired
    if wrong:
        assert seen.paired is not None
        assert seen.paired.site is not None
        assert seen.paired.site.source == f"loss = {loss}"


@pytest.mark.parametrize("per_row", [FUNCTION, OBJECT])
@pytest.mark.parametrize(("shape", "loss", "wrong"), [
    ("(640, 1)", "tf.reduce_mean(per_row * wb)", True), ("(640, 1)", "tf.reduce_mean(wb * per_row)", True),
    ("(640, 1)", "tf.reduce_mean(per_row * wb[:, 0])", False), ("640", "tf.reduce_mean(per_row * wb)", False)])
def test_keras(tmp_path: Path, per_row: str, shape: str, loss: str, *, wrong: bool) -> None:
    text = KERAS.replace("WEIGHTS", f'np.random.default_rng(1).random({shape}).astype("float32")')
    seen = test_watch_keras.watch(tmp_path, text.replace("PER_ROW", per_row).replace("LOSS", loss), probe_seconds=0.3)
    assert seen.warnings == []
    assert ("L203" in found(seen)) is wrong, seen.paired
