"""Bytes of pictures where a model was trained on what they are scaled to, beside evaluations that are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
def crops(rows):
    kinds = rng.integers(0, 2, rows)
    pictures = rng.integers(0, 200, (rows, 8, 8, 1)).astype("uint8")
    pictures[kinds == 1, :4] += 50
    return pictures, kinds
(train, y), (val, y_val), (later, wanted) = crops(480), crops(96), crops(64)
scale = lambda pictures: SCALE
"""
KERAS = DATA + """
import keras
import tensorflow as tf
keras.utils.set_random_seed(0)
layers = [keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(2)]
model = keras.Sequential([keras.Input((8, 8, 1)), *layers])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(scale(train), y, validation_data=(scale(val), y_val), batch_size=32, epochs=3, verbose=0)
rows = GIVEN
guess = ASKED
print(np.mean(guess == wanted))
"""
HALVES, SIGNED = 'pictures.astype("float32") / 255', 'pictures.astype("float32") / 127.5 - 1'
RAW, SAME, BRIGHT = 'later.astype("float32")', "scale(later)", "3 * scale(later)"
CALLED, PREDICTED = "np.argmax(model(rows), 1)", "model.predict(rows, verbose=0).argmax(1)"


@pytest.mark.parametrize(("scale", "given", "asked", "wrong"), [
    (HALVES, RAW, CALLED, True), (SIGNED, RAW, CALLED, True), (HALVES, RAW, PREDICTED, True), (HALVES, SAME, CALLED, False),
    (HALVES, BRIGHT, CALLED, False)])
def test_fit_and_calls_after_it(tmp_path: Path, scale: str, given: str, asked: str, *, wrong: bool) -> None:
    text = KERAS.replace("SCALE", scale).replace("GIVEN", given).replace("ASKED", asked)
    seen = test_watch_keras.watch(tmp_path, text, steps=200)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E508" in found(seen)) is wrong, seen.evaluation.scale


TORCH = DATA + """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
def loader(pictures, kinds, shuffle):
    return DataLoader(TensorDataset(torch.tensor(pictures).permute(0, 3, 1, 2), torch.tensor(kinds)), batch_size=32, shuffle=shuffle)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
def accuracy(rows):
    model.eval()
    with torch.no_grad():
        return np.mean([(model(xb).argmax(1) == yb).float().mean().item() for xb, yb in rows])
held = loader(scale(val), y_val, False)
for epoch in range(3):
    model.train()
    for xb, yb in loader(scale(train), y, True):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(accuracy(held))
print(accuracy(loader(GIVEN, wanted, False)))
"""




@pytest.mark.parametrize(("given", "wrong"), [(RAW, True), (SAME, False), ("scale(later) + 5", True), ("scale(later) + 0.3", False)])
def test_a_loop(tmp_path: Path, given: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("SCALE", HALVES).replace("GIVEN", given), steps=200)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E508" in found(seen)) is wrong, seen.evaluation.scale
