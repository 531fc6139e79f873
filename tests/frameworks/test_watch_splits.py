"""Inputs of an evaluation in another scale than those of the training, in both frameworks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks import pairing
from harness.checks.base import walk
from harness.checks.evaluation_facts import RelationFacts, ScaleFacts
from harness.frameworks.watch.splits import Splits
from tests.checks.made import healthy, judge
from tests.frameworks.watching import found, watch

HEAD = """
import numpy as np
rng = np.random.default_rng(0)
raw = rng.normal(40, 12, size=(480, 10)).astype("float32")
y = (raw[:, 0] > raw[:, 1]).astype("int64")
train, test = raw[:320], raw[320:]
mean, std = train.mean(0), train.std(0)
train = (train - mean) / std
TEST
"""
TORCH = HEAD + """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
rows = DataLoader(TensorDataset(torch.tensor(train), torch.tensor(y[:320])), batch_size=16, shuffle=True)
others = DataLoader(TensorDataset(torch.tensor(test), torch.tensor(y[320:])), batch_size=80)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
def accuracy():
    model.eval()
    with torch.no_grad():
        return np.mean([(model(xb).argmax(1) == yb).float().mean().item() for xb, yb in others])
for epoch in range(3):
    model.train()
    for xb, yb in rows:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(accuracy())
"""
KERAS = HEAD + """
import keras
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, y[:320], batch_size=16, epochs=2, verbose=0)
ASKED
"""
RAW, SCALED, RANGE = "test = test.copy()", "test = (test - mean) / std", "test = 5 * (test - mean) / std"


@pytest.mark.parametrize(("test", "wrong"), [(RAW, True), (SCALED, False), (RANGE, False)])
def test_torch(tmp_path: Path, test: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("TEST", test), probe_seconds=0.5)
    assert seen.evaluation.scale is not None, seen.warnings
    assert ("E508" in found(seen)) is wrong, seen.evaluation.scale
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.code == "E508")
        assert finding is not None
        assert finding.site is not None


@pytest.mark.parametrize("asked", ["model.evaluate(test, y[320:], verbose=0)", "model.predict(test, verbose=0)"])
@pytest.mark.parametrize(("test", "wrong"), [(RAW, True), (SCALED, False)])
def test_keras(tmp_path: Path, asked: str, test: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("TEST", test).replace("ASKED", asked), probe_seconds=0.5)
    assert seen.evaluation.scale is not None, seen.warnings
    assert ("E508" in found(seen)) is wrong, seen.evaluation.scale


@pytest.mark.parametrize(("held", "wrong"), [
    ((33.0, 80.0), True), ((0.0005, 0.0012), True), ((0.13, 0.31), False), ((0.0, 5.0), False), ((2.0, 0.5), False), ((0.9, 0.05), False)])
def test_what_is_another_scale(held: tuple[float, float], *, wrong: bool) -> None:
    seen = healthy()
    middle, deviation = held
    seen.evaluation.scale = ScaleFacts(mean=0.13, std=0.31, held_mean=middle, held_std=deviation, held_stds=(deviation, deviation),
                                       shape=[28])
    assert (judge("E508", seen) == "found") is wrong


@pytest.mark.parametrize(("middle", "apart"), [(33.0, False), (0.13, True)])
def test_what_was_learnt_says_nothing_of_numbers_of_another_scale(middle: float, *, apart: bool) -> None:
    seen = healthy()
    seen.evaluation.relation = RelationFacts(trained=0.99, trained_rows=600, held=0.3, rows=600, classes=True, compared=0.3,
                                             trained_majority=0.27, majority=0.3, answered=0.5)
    seen.evaluation.scale = ScaleFacts(mean=0.13, std=0.31, held_mean=middle, held_std=80 if middle > 1 else 0.3,
                                       held_stds=(78, 82) if middle > 1 else (0.3, 0.3), shape=[28])
    assert (pairing.unrelated(seen) is not None) is apart


@pytest.mark.parametrize(("below", "held_below", "wrong"), [(0.5, 0.0, True), (0.5, 0.4, False), (0.1, 0.0, False)])
def test_numbers_that_are_never_below_zero_in_the_evaluation(below: float, held_below: float, *, wrong: bool) -> None:
    seen = healthy()
    seen.evaluation.scale = ScaleFacts(mean=-0.1, std=0.9, held_mean=1.5, held_std=2.6, held_stds=(2.5, 2.8), shape=[30, 65, 1],
                                       below=below, held_below=held_below)
    assert (judge("E508", seen) == "found") is wrong


def test_bytes_beside_floats() -> None:
    splits, model = Splits(), object()
    for _ in range(2):
        splits.trained(model, [np.linspace(-1, 1, 3200, dtype=np.float32).reshape(32, 10, 10)])
    splits.held(model, [np.arange(3200).reshape(32, 10, 10).astype(np.uint8)])
    scale = splits.facts()
    assert scale is not None
    assert scale.held_mean > 100
    assert (round(scale.below, 1), scale.held_below) == (0.5, 0.0)
    ids = Splits()
    ids.trained(model, [np.ones((32, 10), dtype=np.int64)])
    ids.held(model, [np.ones((32, 10), dtype=np.int64)])
    assert ids.facts() is None


@pytest.mark.parametrize(("relation", "wrong"), [
    ((0.79, 0.22, 0.18), True), ((0.79, 0.66, 0.18), False), ((0.4, 0.2, 0.18), False), ((0.9, 0.5, 0.18), False), (None, False)])
def test_a_narrow_range_that_costs_what_was_learnt(relation: tuple[float, float, float] | None, *, wrong: bool) -> None:
    """Less than twenty times narrower: the last part of a series may be so, and told well."""
    seen = healthy()
    seen.evaluation.scale = ScaleFacts(mean=-0.02, std=1.0, held_mean=0.17, held_std=0.06, held_stds=(0.06, 0.06), shape=[3, 24, 24])
    if relation is not None:
        trained, held, majority = relation
        seen.evaluation.relation = RelationFacts(trained=trained, trained_rows=1600, held=held, rows=400, classes=True, majority=majority)
    assert (judge("E508", seen) == "found") is wrong


@pytest.mark.parametrize(("low", "between", "wrong"), [(0.0, False, True), (0.0, True, False), (-0.4, False, False)])
def test_single_rows_beside_an_evaluation_that_is_right(low: float, between: bool, *, wrong: bool) -> None:
    """No number of a row is below 0, of one after the other; rows that are so now and then are drawn like that."""
    rng, model, splits = np.random.default_rng(0), object(), Splits()

    def usual(rows: int) -> np.ndarray:
        return rng.normal(-1, 2, (rows, 30, 10)).astype("float32")

    for _ in range(6):
        splits.trained(model, [usual(32)])
    told = splits.held(model, [usual(100)])
    for turn in range(24):
        told |= splits.held(model, [rng.uniform(low, 4, (1, 30, 10)).astype("float32")])
        if between and turn % 6 == 5:
            splits.held(model, [usual(1)])
    scale = splits.facts()
    assert scale is not None
    seen = healthy()
    seen.evaluation.scale = scale
    assert (judge("E508", seen) == "found") is wrong, scale
    assert told is (low == 0)
