"""Label maps that were resized with interpolation, and those that only look like it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.checks.base import Finding
from harness.checks.resized_labels import ResizedLabels
from harness.frameworks.watch.label_maps import LabelMaps
from tests.checks.facts import seen, verdict
from tests.frameworks import test_watch_keras, watching

Array = np.ndarray[Any, Any]


def _fields(rng: np.random.Generator, classes: tuple[int, ...], size: int = 32) -> Array:
    made = np.zeros((size, size), dtype=np.int64)
    for _ in range(4):
        top, left = rng.integers(0, size - 12, 2)
        made[top:top + rng.integers(6, 12), left:left + rng.integers(6, 12)] = rng.choice(classes)
    return made


def _smooth(maps: Array) -> Array:
    """As half-pixel bilinear sampling, cut to whole numbers."""
    mean: Array = (maps + np.roll(maps, 1, 1) + np.roll(maps, 1, 2) + np.roll(np.roll(maps, 1, 1), 1, 2)) / 4
    return mean.astype(np.int64)


def _ramps(maps: Array, scale: int = 6) -> Array:
    """Enlarged as a picture is: between two fields lie all that are between their numbers, each several pixels wide."""
    places = np.clip((np.arange(maps.shape[1] * scale) + 0.5) / scale - 0.5, 0, maps.shape[1] - 1)
    low = places.astype(int)
    share = places - low
    high = np.minimum(low + 1, maps.shape[1] - 1)
    rows = maps[:, low] * (1 - share)[None, :, None] + maps[:, high] * share[None, :, None]
    return np.round(rows[:, :, low] * (1 - share) + rows[:, :, high] * share).astype(np.int64)


def _ringed(maps: Array) -> Array:
    """A class of its own around each field."""
    inside = np.ones(maps.shape, dtype=bool)
    for axis in (1, 2):
        for by in (-1, 1):
            inside &= np.roll(maps, by, axis) == maps
    return np.where(inside, maps, 1)


RNG = np.random.default_rng(0)
FIELDS = np.stack([_fields(RNG, (2, 3, 4, 5)) for _ in range(64)])
CELLS = np.stack([_fields(RNG, (2, 4)) for _ in range(64)])
HILLS = np.round(6 + 3 * np.sin(np.arange(32) / 4)[None, :, None] + 3 * np.sin(np.arange(32) / 5)[None, None, :] + np.zeros((64, 1, 1)))


@pytest.mark.parametrize(("maps", "wrong"), [
    (FIELDS, False), (_smooth(FIELDS), True), (_smooth(FIELDS)[..., None].astype("float32"), True), (_smooth(FIELDS)[:, None], True),
    (_ringed(CELLS), False), (HILLS, False), ((FIELDS > 0).astype(int), False)])
def test_what_lies_between_two_classes(maps: Array, *, wrong: bool) -> None:
    watched = LabelMaps()
    for first in range(0, 64, 16):
        watched.trained({"image": FIELDS[first:first + 16], "mask": maps[first:first + 16]})
    facts = watched.facts(Path("none.py"))
    assert isinstance(verdict(ResizedLabels, seen(resized=facts)), Finding) is wrong, facts
    assert not isinstance(verdict(ResizedLabels, seen(resized=facts, task="regression")), Finding)  # grey values, which have an order


@pytest.mark.parametrize(("text", "wrong"), [
    ('mask = tf.image.resize(grid[..., None], (192, 192), method="bilinear")\n', True),
    ('mask = tf.image.resize(grid[..., None], (192, 192), method="nearest")\n', False),
    ("picture = tf.image.resize(photo, (192, 192))\n", False),
    ("pass\n", False)])
def test_wide_lines_need_the_text_as_well(tmp_path: Path, text: str, *, wrong: bool) -> None:
    """Levels of their own, such as those of a map of heights, follow each other too."""
    script, watched = tmp_path / "train.py", LabelMaps()
    script.write_text(text)
    cells = np.stack([_fields(np.random.default_rng(number), (2, 4, 5)) for number in range(16)])
    watched.trained({"image": cells, "mask": _ramps(cells)})
    assert isinstance(verdict(ResizedLabels, seen(resized=watched.facts(script))), Finding) is wrong


TORCH = """
import numpy as np, torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
rng = np.random.default_rng(0)
masks = np.zeros((96, 1, 20, 20), dtype="float32")
for mask in masks:
    for _ in range(4):
        a, b = rng.integers(0, 12, 2)
        mask[0, a:a + 7, b:b + 7] = rng.integers(2, 6)
images = torch.from_numpy(masks) / 5 + 0.1 * torch.randn(96, 1, 20, 20)
images = F.interpolate(images, (32, 32), mode="bilinear")
masks = F.interpolate(torch.from_numpy(masks), (32, 32)MODE)[:, 0].long()
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 6, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for x, y in DataLoader(TensorDataset(images, masks), batch_size=16, shuffle=True):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import numpy as np, tensorflow as tf, NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
masks = np.zeros((96, 20, 20, 1), dtype="float32")
for mask in masks:
    for _ in range(4):
        a, b = rng.integers(0, 12, 2)
        mask[a:a + 7, b:b + 7] = rng.integers(2, 6)
images = tf.image.resize(masks / 5, (32, 32)).numpy()
masks = tf.image.resize(masks, (32, 32)MODE).numpy().astype("int32")
model = keras.Sequential([keras.Input((32, 32, 1)), keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
                          keras.layers.Conv2D(6, 3, padding="same")])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(images, masks, batch_size=16, epochs=3, verbose=0)
"""


@pytest.mark.parametrize(("mode", "wrong"), [(', mode="bilinear"', True), (', mode="nearest"', False)])
def test_a_loop(tmp_path: Path, mode: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    watched = watching.watch(tmp_path, TORCH.replace("MODE", mode), steps=20, probe_seconds=0.5)
    assert ("D115" in watching.found(watched)) is wrong, watched.resized
    if wrong:
        assert watched.resized is not None
        assert watched.resized.site is not None
        assert watched.resized.site.source.startswith("masks = ")


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("mode", "wrong"), [("", True), (', method="nearest"', False)])
def test_a_fit(tmp_path: Path, name: str, mode: str, *, wrong: bool) -> None:
    watched = test_watch_keras.watch(tmp_path, KERAS.replace("MODE", mode).replace("NAME", name), steps=20, probe_seconds=0.5)
    assert ("D115" in watching.found(watched)) is wrong, watched.resized
