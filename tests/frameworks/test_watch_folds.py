"""Folds of a splitter: a model that goes on in the next one, and models that are made or put back for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("sklearn")

DATA = """
import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit
rng = np.random.default_rng(0)
x = rng.normal(size=(240, 6)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int64")
scores = []
"""
TORCH = DATA + """
import copy
import torch
import torch.nn as nn
torch.manual_seed(0)
def build():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
net = build()
start = copy.deepcopy(net.state_dict())
for fitted, held in SPLITTER.split(x):
    INSIDE
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    scaled = (x - x[fitted].mean(0)) / x[fitted].std(0)  # other numbers in each fold
    for rows in torch.from_numpy(rng.permutation(fitted)).split(16):
        loss = nn.functional.cross_entropy(net(torch.from_numpy(scaled)[rows]), torch.from_numpy(y)[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        scores.append((net(torch.from_numpy(scaled[held])).argmax(1).numpy() == y[held]).mean())
    net.train()
"""
KERAS = DATA + """
import NAME as keras
keras.utils.set_random_seed(0)
def build():
    made = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
    made.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return made
net = build()
start = net.get_weights()
for fitted, held in SPLITTER.split(x):
    INSIDE
    scaled = (x - x[fitted].mean(0)) / x[fitted].std(0)
    net.fit(scaled[fitted], y[fitted], batch_size=16, epochs=1, verbose=0)
    scores.append((net.predict(scaled[held], verbose=0).argmax(1) == y[held]).mean())
"""


@pytest.mark.parametrize(("splitter", "inside", "fault"), [
    ("KFold(4, shuffle=True, random_state=0)", "pass", True), ("KFold(4)", "net = build()", False),
    ("KFold(4)", "net.load_state_dict(start)", False),
    # What comes later was never trained on.
    ("TimeSeriesSplit(4)", "pass", False)])
def test_torch(tmp_path: Path, splitter: str, inside: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("SPLITTER", splitter).replace("INSIDE", inside), steps=60, seconds=60)
    assert (found(seen) == ["E510"]) is fault, (found(seen), seen.evaluation.folds)
    if fault:
        assert seen.evaluation.folds is not None
        assert seen.evaluation.folds.fold == 2
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == "net = build()"


@pytest.mark.parametrize("name", ["tf_keras", "keras"])
@pytest.mark.parametrize(("inside", "fault"), [("pass", True), ("net = build()", False), ("net.set_weights(start)", False)])
def test_keras(tmp_path: Path, name: str, inside: str, *, fault: bool) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, KERAS.replace("NAME", name).replace("SPLITTER", "KFold(4)").replace("INSIDE", inside), steps=60, seconds=60)
    assert (found(seen) == ["E510"]) is fault, (found(seen), seen.evaluation.folds)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == "net = build()"
