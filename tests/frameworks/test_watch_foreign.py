"""Weights that are to be frozen by an attribute that the framework does not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, LOOP, watch

KERAS = """
import numpy as np
import keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(400, 10)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
body = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu")])
model = keras.Sequential([keras.Input((10,)), body, keras.layers.Dense(2)])
FREEZE
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=20, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("freeze", "weights"), [
    ("model.a.requires_grad = False", 2), ("for p in model.a.parameters():\n    p.require_grad = False", 2),
    ("for p in model.a.parameters():\n    p.trainable = False", 2), ("model.a.requires_grad_(False)", 0),
    ("for p in model.a.parameters():\n    p.requires_grad = False", 0),
    ("optimizer = torch.optim.Adam(model.b.parameters(), lr=1e-2)\nmodel.a.requires_grad = False", 0), ("model.a.requires_grad = True", 0),
    ("for p in model.a.parameters():\n    p.trainable = False\n    p.requires_grad = p.trainable", 0)])
def test_of_torch(tmp_path: Path, freeze: str, weights: int) -> None:
    seen = watch(tmp_path, HEAD + freeze + LOOP, probe_seconds=0.3)
    _told(seen, weights, freeze.rpartition("\n")[2].strip())


@pytest.mark.parametrize(("freeze", "weights"), [
    ("body.requires_grad = False", 2), ("body.trainable = False", 0),
    ("for w in model.layers[0].weights:\n    w.requires_grad = False", 2)])
def test_of_keras(tmp_path: Path, freeze: str, weights: int) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("FREEZE", freeze), probe_seconds=0.3)
    _told(seen, weights, freeze.rpartition("\n")[2].strip())


def _told(seen, weights: int, line: str) -> None:
    told = next(each.finding for each in walk(seen) if each.code == "A701")
    assert (seen.foreign.weights if seen.foreign is not None else 0) == weights, seen.warnings
    assert (told is not None) is bool(weights)
    if told is not None:
        assert told.site is not None
        assert told.site.source == line
        assert f"{weights} weights" in told.message
