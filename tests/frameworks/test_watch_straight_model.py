"""Models of several layers with nothing between them that bends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch import affine
from tests.frameworks.test_watch_keras import HEAD as KERAS_HEAD
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import found, watch

TORCH = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(900, 6)
y = TARGET
model = nn.Sequential(LAYERS)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(900).split(30):
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
CURVED, FLAT = "x[:, :1] * x[:, 1:2] + x[:, 2:3]", "x[:, :1] + 2 * x[:, 1:2] - x[:, 2:3]"
XOR, CROSSED = "(x[:, :1] * x[:, 1:2] > 0).float()", "nn.functional.binary_cross_entropy(model(x[rows]), y[rows])"
SQUARES, CLASSES = "nn.functional.mse_loss(model(x[rows]), y[rows])", "nn.functional.cross_entropy(model(x[rows]), y[rows])"


@pytest.mark.parametrize(("layers", "target", "loss", "wrong"), [
    ("nn.Linear(6, 32), nn.BatchNorm1d(32), nn.Linear(32, 1)", CURVED, SQUARES, True),
    ("nn.Linear(6, 32), nn.Dropout(0.1), nn.Linear(32, 2)", "(x[:, 0] * x[:, 1] > 0).long()", CLASSES, True),
    ("nn.Linear(6, 32), nn.Linear(32, 1), nn.Sigmoid()", XOR, CROSSED, True),
    ("nn.Linear(6, 32), nn.Sigmoid(), nn.Linear(32, 1), nn.Sigmoid()", XOR, CROSSED, False),
    ("nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)", CURVED, SQUARES, False),
    ("nn.Linear(6, 32), nn.Linear(32, 1)", FLAT, SQUARES, False),  # straight lines are all that is asked for
    ("nn.Linear(6, 1)", CURVED, SQUARES, False),
    ("nn.Linear(6, 2), nn.Linear(2, 6)", "torch.cat([x[:, :1] * x[:, 1:2]] * 6, 1)", SQUARES, False)])  # narrow on purpose
def test_torch(tmp_path: Path, layers: str, target: str, loss: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("LAYERS", layers).replace("TARGET", target).replace("LOSS", loss), steps=60)
    assert ("F108" in found(seen)) is wrong, (found(seen), seen.probes.straight)
    if wrong:
        assert seen.probes.straight is not None
        assert seen.probes.straight.site is not None
        assert "nn.Sequential" in seen.probes.straight.site.source


@pytest.mark.parametrize("activation", ['""', '"relu"'])
@pytest.mark.parametrize(("units", "last", "loss"), [
    (2, "softmax", "sparse_categorical_crossentropy"), (1, "sigmoid", "binary_crossentropy")])
def test_keras_behind_probabilities(tmp_path: Path, activation: str, units: int, last: str, loss: str) -> None:
    pytest.importorskip("keras")
    text = KERAS_HEAD.replace("NAME", "keras") + f"""
y = (x[:, 0] * x[:, 1] > 0).astype("int64")
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation={activation} or None),
                          keras.layers.Dense({units}, activation="{last}")])
model.compile(keras.optimizers.Adam(0.01), "{loss}")
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""
    assert ("F108" in found(watch_keras(tmp_path, text))) is (activation == '""')


def test_scores_behind_probabilities() -> None:
    generator = np.random.default_rng(0)
    one, other = generator.normal(size=(2, 8, 3))

    def softmax(scores: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        whole: np.ndarray = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)  # type: ignore[type-arg]
        return whole
    assert affine.is_straight(softmax(one), softmax(other), softmax((one + other) / 2))
    assert not affine.is_straight(np.tanh(one), np.tanh(other), np.tanh((one + other) / 2))
    assert not affine.is_straight(one, one, one)  # which says nothing


def test_a_small_bend_is_one() -> None:
    rng = np.random.default_rng(0)
    plain, rolled = rng.normal(size=(2, 32, 5))
    middle = (plain + rolled) / 2
    assert affine.is_straight(plain, rolled, middle + 1e-6)
    assert not affine.is_straight(plain, rolled, middle + 5e-4)
