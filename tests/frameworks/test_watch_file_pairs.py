"""Files of two folders that are read in pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

WRITTEN = """
import os, glob, pathlib
import numpy as np
rng = np.random.default_rng(0)
root = pathlib.Path("ROOT")
for part in ("pictures", "masks"):
    (root / part).mkdir(parents=True, exist_ok=True)
for number in rng.permutation(40):
    picture = rng.random((1, 8, 8)).astype("float32")
    np.save(root / "pictures" / PICTURE, picture)
    np.save(root / "masks" / f"scan_{number:03d}_mask.npy", picture > 0.5)
# Whatever the folder's own order is: one that is no order.
pictures = list(rng.permutation([str(path) for path in (root / "pictures").iterdir()]))
masks = list(rng.permutation([str(path) for path in (root / "masks").iterdir()]))
LISTS
"""
TORCH = WRITTEN + """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
class Scans(Dataset):
    def __len__(self):
        return len(pictures)
    def __getitem__(self, place):
        FIRST
        return torch.from_numpy(np.load(pictures[place])), torch.from_numpy(np.load(masks[place])).float()
model = nn.Conv2d(1, 1, 3, padding=1)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(2):
    for xb, yb in DataLoader(Scans(), batch_size=4, shuffle=True):
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(xb), yb)
        loss.backward()
        optimizer.step()
"""
SORTED = "pictures, masks = sorted(pictures), sorted(masks)"
BUILT = "masks = [path.replace('pictures', 'masks').replace('.npy', '_mask.npy') for path in pictures]"
NUMBERED = 'f"scan_{number:03d}.npy"'


@pytest.mark.parametrize(("picture", "lists", "first", "wrong"), [
    (NUMBERED, "", "pass", True), (NUMBERED, SORTED, "pass", False), (NUMBERED, BUILT, "pass", False),
    (NUMBERED, SORTED, "np.load(masks[place])", False), ('f"{rng.integers(1 << 40):x}.npy"', "", "pass", False)])
def test_a_dataset(tmp_path: Path, picture: str, lists: str, first: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("ROOT", str(tmp_path / "data")).replace("PICTURE", picture).replace("LISTS", lists).replace("FIRST", first)
    seen = watch(tmp_path, text, steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("D117" in found(seen)) is wrong, seen.file_pairs
    if wrong:
        assert seen.file_pairs is not None
        assert seen.file_pairs.folders == ("pictures", "masks")
        assert ".iterdir()" in seen.sites["listed"].source


KERAS = WRITTEN + """
import tensorflow as tf, keras
keras.utils.set_random_seed(0)
def load(picture, mask):
    def read(path):
        return tf.reshape(tf.numpy_function(lambda name: np.load(name).astype("float32"), [path], tf.float32), (8, 8, 1))
    return read(picture), read(mask)
data = tf.data.Dataset.from_tensor_slices((pictures, masks)).map(load).batch(4)
model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(1, 3, padding="same")])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(data, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("lists", "wrong"), [("", True), (SORTED, False)])
def test_lists_of_files(tmp_path: Path, lists: str, *, wrong: bool) -> None:
    text = KERAS.replace("ROOT", str(tmp_path / "data")).replace("PICTURE", NUMBERED).replace("LISTS", lists)
    seen = test_watch_keras.watch(tmp_path, text, steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("D117" in found(seen)) is wrong, seen.file_pairs


def test_texts_are_no_files(tmp_path: Path) -> None:
    text = """
import keras, tensorflow as tf
texts = ["long " * 200] * 40
data = tf.data.Dataset.from_tensor_slices((texts, [0, 1] * 20))
count = sum(1 for _ in data)
"""
    seen = test_watch_keras.watch(tmp_path, text, steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []


def test_functions_that_open_files_are_pickled(tmp_path: Path) -> None:
    text = """
import io, pickle
from pathlib import Path
first = io.open
for one in (open, first, Path.open):
    assert pickle.loads(pickle.dumps(one)) is one
"""
    seen = watch(tmp_path, text)
    assert seen.exception is None, seen.exception


NUMBERS = """
import csv, pathlib
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
root, rng = pathlib.Path("ROOT"), np.random.default_rng(0)
root.mkdir(parents=True)
y = rng.integers(0, 2, 240)
for number, label in enumerate(y):
    np.save(root / NAMED, rng.normal(2 * label - 1, 1, 8).astype("float32"))
files = sorted(root.glob("*.npy"))
x = torch.from_numpy(np.stack([np.load(path) for path in files]))
y = torch.from_numpy(y)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(6):
    for rows in torch.randperm(200).split(20):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(x[200:]).argmax(1) == y[200:]).float().mean()
"""


@pytest.mark.parametrize(("named", "wrong"), [('f"clip_{number}.npy"', True), ('f"clip_{number:04d}.npy"', False)])
def test_names_in_the_order_of_their_letters(tmp_path: Path, named: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, NUMBERS.replace("ROOT", str(tmp_path / "data")).replace("NAMED", named), steps=60, probe_seconds=3)
    assert seen.exception is None, seen.exception
    assert ("text_order" in seen.sites) is wrong
    assert ("D106" in found(seen)) is wrong
    assert not wrong or seen.sites["text_order"].source == 'files = sorted(root.glob("*.npy"))'
