"""Augmentation that goes on in the evaluation: how the rows are told with it, and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.evaluation_facts import DrawnFacts
from tests.checks.made import finding, healthy, judge
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

TORCH = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split
torch.manual_seed(0)
class Series(Dataset):
    def __init__(self, rows, augment=False, scaled=True, noisy=False):
        self.y = torch.randint(0, 3, (rows,))
        self.x = torch.randn(rows, 24) * 0.6
        for place in range(rows):
            self.x[place, 8 * self.y[place]:8 * self.y[place] + 8] += 1
        self.augment, self.scaled, self.noisy = augment, scaled, noisy
    def __len__(self):
        return len(self.x)
    def __getitem__(self, place):
        x = self.x[place]
        if self.scaled:
            x = x / 2
        if self.augment or self.noisy:
            x = x * (torch.rand(24) > DROPPED).float() + 0.3 * torch.randn(24)
        return x, self.y[place]
MADE
train = DataLoader(first, batch_size=20, shuffle=True)
test = DataLoader(second, batch_size=50)
model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(4):
    model.train()
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test) / len(second))
"""
BOTH = "first = Series(600, augment=True)\nsecond = Series(200, augment=True)"
APART = "first = Series(600, augment=True)\nsecond = Series(200)"
PARTED = "whole = Series(800, augment=True)\nfirst, second = random_split(whole, [600, 200])"


NOISY = BOTH.replace("augment=True", "scaled=True, noisy=True")


@pytest.mark.parametrize(("made", "dropped", "line"), [
    (BOTH, "0.7", "second = Series(200, augment=True)"), (PARTED, "0.7", "whole = Series(800, augment=True)"), (APART, "0.7", None),
    (BOTH, "-1", None), (NOISY, "0.7", None)])
def test_a_dataset_with_a_switch(tmp_path: Path, made: str, dropped: str, line: str | None) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("MADE", made).replace("DROPPED", dropped), steps=100, probe_seconds=1)
    assert seen.exception is None
    assert not [warning for warning in seen.warnings if "rows of an evaluation" in warning], seen.warnings
    assert (seen.evaluation.drawn is not None) is (made not in (APART, NOISY))
    assert ("E517" in found(seen)) is (line is not None), seen.evaluation.drawn
    if line is not None:
        told = next(result.finding for result in walk(seen) if result.code == "E517")
        assert told is not None
        assert told.site is not None
        assert told.site.source == line
        assert ("by the same indices" in told.remedy) is (made == PARTED)


CROPPED = """
def hidden(x):
    return x[:24] * (torch.rand(24) > 0.7).float() + 0.3 * torch.randn(24)
def plain_rows(x):
    return x[:24]
def scaled_up(x):
    return x[:24] * 3
class Cut(Dataset):
    def __init__(self, rows, transform=None):
        self.inner, self.transform = Series(rows), transform
        self.inner.x = torch.cat([self.inner.x, torch.zeros(rows, 4)], 1)
    def __len__(self):
        return len(self.inner)
    def __getitem__(self, place):
        x = self.inner.x[place]
        return self.transform(x) if self.transform else x, self.inner.y[place]
"""


def test_a_transform_without_which_rows_do_not_fit(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    whole = CROPPED + "whole = Cut(800, hidden)\nfirst, second = random_split(whole, [600, 200])"
    seen = watch(tmp_path, TORCH.replace("MADE", whole).replace("DROPPED", "-1"), steps=100, probe_seconds=1)
    assert seen.exception is None
    assert "E517" in found(seen)
    assert seen.evaluation.drawn is not None
    assert (seen.evaluation.drawn.what, seen.evaluation.drawn.instead) == ("transform", "plain_rows")


def test_what_is_clear() -> None:
    seen = healthy()
    seen.evaluation.drawn = DrawnFacts(rows=200, own=0.8, plain=0.98, what="augment")
    assert "80% of 200 are told rightly as they come, and 98% without `augment`" in finding("E517", seen).message
    seen.evaluation.drawn.instead = "plain_rows"
    assert "98% with `plain_rows` for `augment`" in finding("E517", seen).message
    seen.evaluation.drawn.plain = 0.83
    assert judge("E517", seen) == "clean"
    seen.evaluation.drawn = DrawnFacts(rows=60, own=0.6, plain=0.7, what="augment")
    assert judge("E517", seen) == "clean"  # of so few rows by chance


KERAS = test_watch_keras.HEAD + """
x = np.random.randn(800, 24).astype("float32") * 0.6
y = np.random.randint(0, 3, 800)
for place in range(800):
    x[place, 8 * y[place]:8 * y[place] + 8] += 1
def augment(row, label):
    kept = tf.cast(tf.random.uniform([24]) > DROPPED, tf.float32)
    return row * kept + 0.3 * tf.random.normal([24]), label
def pipeline(x, y, training):
    rows = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        rows = rows.shuffle(600)
    if TURN:
        rows = rows.map(augment)
    return rows.batch(20).prefetch(1)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(pipeline(x[:600], y[:600], True), validation_data=pipeline(x[600:], y[600:], False), epochs=4, verbose=0)
"""


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("turn", "dropped", "wrong"), [("True", "0.7", True), ("training", "0.7", False), ("True", "-1.0", False)])
def test_a_dataset_that_is_mapped(tmp_path: Path, name: str, turn: str, dropped: str, *, wrong: bool) -> None:
    pytest.importorskip(name)
    text = KERAS.replace("NAME", name).replace("TURN", turn).replace("DROPPED", dropped)
    seen = test_watch_keras.watch(tmp_path, text, steps=100, probe_seconds=1)
    assert seen.exception is None
    assert not [warning for warning in seen.warnings if "rows of an evaluation" in warning], seen.warnings
    assert (seen.evaluation.drawn is not None) is (turn == "True")
    assert ("E517" in found(seen)) is wrong, seen.evaluation.drawn
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "E517")
        assert told is not None
        assert told.site is not None
        assert told.site.source == "rows = rows.map(augment)"
