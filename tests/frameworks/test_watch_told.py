"""Classes that a script holds against references itself, beside evaluations that go well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
N = KINDS
middles = 3 * rng.normal(size=(N, 8))
def made(rows):
    kinds = rng.integers(0, N, rows)
    return (middles[kinds] + rng.normal(size=(rows, 8))).astype("float32"), kinds
x, kinds = made(1200)
other, wanted = made(400)
names = sorted(str(kind) for kind in range(N))
y = np.array([names.index(str(kind)) for kind in kinds])
WANTED
"""
TORCH = DATA + """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x, y, other = torch.tensor(x), torch.tensor(y), torch.tensor(other)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, N))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(8):
    for rows in torch.randperm(len(x)).split(50):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print((model(x[:100]).argmax(1) == y[:100]).float().mean())
with torch.no_grad():
    guess = model(other).argmax(1)
print(COMPARED)
"""
NUMPY, TENSORS = "np.mean(guess.numpy() == wanted)", "(guess == torch.tensor(wanted)).float().mean()"
KERAS = DATA + """
import keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(N)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x[100:], y[100:], validation_data=(x[:100], y[:100]), epochs=4, verbose=0)
guess = model.predict(other, verbose=0).argmax(1)
print(np.mean(guess == wanted))
"""
RIGHT, PLAIN = "wanted = np.array([names.index(str(kind)) for kind in wanted])", ""


@pytest.mark.parametrize(("kinds", "wanted", "compared", "wrong"), [
    (12, PLAIN, TENSORS, True), (12, RIGHT, TENSORS, False),
    (12, "wanted = rng.permutation(wanted)", TENSORS, False),  # no order of the classes explains it
    (12, "wanted = np.where(wanted < 2, 1 - wanted, np.array([names.index(str(kind)) for kind in wanted]))", TENSORS, False)])
def test_torch(tmp_path: Path, kinds: int, wanted: str, compared: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("KINDS", str(kinds)).replace("WANTED", wanted).replace("COMPARED", compared), steps=400)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E511" in found(seen)) is wrong, seen.evaluation.compared


def test_an_average_of_numpy(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("KINDS", "12").replace("WANTED", PLAIN).replace("COMPARED", NUMPY), steps=400)
    assert "E511" in found(seen), seen.evaluation.compared


@pytest.mark.parametrize(("wanted", "wrong"), [(PLAIN, True), (RIGHT, False)])
def test_fit(tmp_path: Path, wanted: str, *, wrong: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("KINDS", "12").replace("WANTED", wanted))
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E511" in found(seen)) is wrong, seen.evaluation.compared
