"""Transformers without positions: named where the order of the steps tells something, and in both frameworks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch import orderless
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
ids = rng.integers(3, 20, (600, 10))
label = rng.integers(0, 2, 600)
for row, first in zip(ids, label):
    one, two = np.sort(rng.choice(10, 2, replace=False))
    row[one], row[two] = (1, 2) if first else (2, 1)
counted = ids.copy()
counted[:, 3] = np.where(label, 1, 3)
counted[:, 5] = np.where(label, 1, 3)
"""
TORCH = DATA + """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(20, 16), nn.Parameter(torch.zeros(1, 10, 16))
        self.body = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
        self.head = nn.Linear(16, 2)
    def forward(self, x):
        x = self.tokens(x)PLACES
        return self.head(self.body(x).mean(1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
x, y = torch.tensor(ROWS), torch.tensor(label)
for epoch in range(3):
    for rows in torch.randperm(600).split(20):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = DATA + """
import keras, tensorflow as tf
from keras import layers
keras.utils.set_random_seed(0)
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = layers.Embedding(20, 16), layers.Embedding(10, 16)
        self.attention, self.head = layers.MultiHeadAttention(2, 8), layers.Dense(2)
    def call(self, ids):
        x = self.tokens(ids)PLACES
        return self.head(tf.reduce_mean(x + self.attention(x, x), 1))
model = Net()
model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ROWS, label, batch_size=20, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("rows", "places", "codes"), [("ids", "", ["F110"]), ("ids", " + self.places", []), ("counted", "", [])])
def test_torch(tmp_path: Path, rows: str, places: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TORCH.replace("ROWS", rows).replace("PLACES", places), steps=40)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [code for code in found(seen) if code == "F110"] == codes
    assert (seen.probes.orderless is None) is bool(places)
    if codes:
        facts = seen.probes.orderless
        assert facts is not None
        assert facts.site is not None
        assert facts.site.source == "x = self.tokens(x)"


@pytest.mark.parametrize(("places", "codes"), [("", ["F110"]), (" + self.places(tf.range(10))", [])])
def test_keras(tmp_path: Path, places: str, codes: list[str]) -> None:
    seen = watch_keras(tmp_path, KERAS.replace("ROWS", "ids").replace("PLACES", places), steps=40)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [code for code in found(seen) if code == "F110"] == codes
    assert (seen.probes.orderless is None) is bool(places)


def test_answers_for_each_step_go_with_it() -> None:
    rng, to = np.random.default_rng(0), orderless.order(8)
    whole, steps = rng.normal(size=(6, 3)), rng.normal(size=(6, 8, 3))
    assert orderless.is_blind([whole], [whole + 1e-7], to)
    assert orderless.is_blind([steps], [steps[:, to]], to)
    assert not orderless.is_blind([steps], [steps], to)
    assert not orderless.is_blind([whole], [whole + 0.1], to)
    assert not orderless.is_blind([np.ones((6, 3))], [np.ones((6, 3))], to)  # rows that are all answered alike say nothing


def test_what_tells_where_a_step_stands() -> None:
    rng, rows = np.random.default_rng(0), np.zeros((4, 1))
    assert orderless.positions(rows + np.arange(6))
    assert orderless.positions(np.cumsum(rng.random((4, 6)), axis=1))
    assert not orderless.positions(rng.integers(0, 9, (4, 6)))
    assert not orderless.positions((np.arange(6) < rng.integers(2, 5, (4, 1))).astype(int))  # a mask
    steps = rng.normal(size=(4, 6, 3))
    assert not orderless.placed(steps)
    steps[:, :, 1] = np.arange(6) / 6
    assert orderless.placed(steps)
