"""Rows whose answer goes by their place in the batch: a table of positions along the axis of the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras as of_keras
from tests.frameworks.watching import watch

TORCH = """
import torch
import torch.nn as nn
torch.manual_seed(0)
x = torch.randn(480, 20, 8)
y = (x[:, :10, 0].sum(1) > x[:, 10:, 0].sum(1)).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.randn(64, 1, 8) if AHEAD else torch.randn(1, 64, 8))
        self.mixed = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        x = x + (self.table[:x.size(0)] if AHEAD else self.table[:, :x.size(1)])
        return self.head(self.mixed(x).mean(1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
for epoch in range(2):
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(480, 20, 8)).astype("float32")
y = (x[:, :10, 0].sum(1) > x[:, 10:, 0].sum(1)).astype("int64")
table = tf.constant(np.random.default_rng(1).normal(size=(64, 1, 8) if AHEAD else (1, 64, 8)).astype("float32"))
class Places(keras.layers.Layer):
    def call(self, x):
        return x + (table[:tf.shape(x)[0]] if AHEAD else table[:, :tf.shape(x)[1]])
given = keras.Input((20, 8))
placed = Places()(given)
mixed = keras.layers.MultiHeadAttention(2, 4)(placed, placed)
model = keras.Model(given, keras.layers.Dense(2)(keras.layers.GlobalAveragePooling1D()(mixed)))
model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("framework", "text", "line"), [
    ("torch", TORCH, "self.table[:x.size(0)]"), ("keras", KERAS, "table[:tf.shape(x)[0]]")])
@pytest.mark.parametrize("ahead", [True, False])
def test_positions_along_the_rows(tmp_path: Path, framework: str, text: str, line: str, *, ahead: bool) -> None:
    if framework == "keras":
        pytest.importorskip("tensorflow")
    run = watch if framework == "torch" else of_keras.watch
    found = {result.code: result.finding for result in walk(run(tmp_path, text.replace("AHEAD", str(ahead)))) if result.state == "found"}
    assert ("F105" in found) is ahead
    if ahead:
        assert found["F105"] is not None
        assert "its place in the batch" in found["F105"].message
        assert found["F105"].site is not None
        assert line in found["F105"].site.source
