"""Pictures that are moved at random, and what is wanted of them is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch import mirrored
from harness.frameworks.watch.mirrored import Mirrored
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

Array = np.ndarray[Any, Any]
ROWS = 320


def hooks(rows: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """Upright bars with a hook to the left (class 0) or to the right (1), where they stand, and a mask of the hook."""
    rng = np.random.default_rng(seed)
    pictures, masks = rng.normal(0, 0.1, (rows, 16, 16, 1)), np.zeros((rows, 16, 16, 1))
    sides, columns = rng.integers(0, 2, rows), rng.integers(5, 11, rows)
    for picture, mask, side, column in zip(pictures, masks, sides, columns, strict=True):
        picture[3:13, column] += 1
        reach = slice(column - 4, column) if side == 0 else slice(column + 1, column + 5)
        picture[3:6, reach] += 1
        mask[3:6, reach] = 1
    return pictures.astype("float32"), sides, (columns / 15).astype("float32")[:, None], masks.astype("float32")


def measured(wanted: str, *, follows: bool, flips: str = "") -> Any:
    watched = Mirrored()
    if flips:
        watched.flips([flips])
    for rows, seed in ((hooks(ROWS, 0), 0), (hooks(ROWS, 1), 1)):
        pictures, sides, columns, masks = rows
        moved = (np.random.default_rng(5).random(ROWS) < 0.5) & (seed == 0) & (not flips)
        pictures = np.where(moved[:, None, None, None], pictures[:, :, ::-1], pictures)
        given = {"sides": np.where(moved & follows, 1 - sides, sides),
                 "columns": np.where((moved & follows)[:, None], 1 - columns, columns),
                 "masks": np.where((moved & follows)[:, None, None, None], masks[:, :, ::-1], masks),
                 "parity": (columns[:, 0] * 15).round().astype(int) % 2 * 0 + (np.abs(columns[:, 0] - 0.5) > 0.2)}[wanted]
        (watched.trained if seed == 0 else watched.held)([pictures], {"x": pictures, "y": given})
    return watched.measure()


@pytest.mark.parametrize("wanted", ["sides", "columns", "masks"])
def test_what_stays_as_it_was(wanted: str) -> None:
    facts = measured(wanted, follows=False)
    assert facts.how == "mirrored"
    assert facts.healed > 0.75 * facts.astray > 0.2 * facts.rows


@pytest.mark.parametrize("wanted", ["sides", "columns", "masks"])
def test_what_is_moved_as_well(wanted: str) -> None:
    assert measured(wanted, follows=True) is None


@pytest.mark.parametrize("follows", [False, True])
def test_one_of_several_motions_for_each_picture(follows: bool) -> None:
    watched, drawn = Mirrored(), np.random.default_rng(5)
    for rows, seed in ((hooks(ROWS, 0), 0), (hooks(ROWS, 1), 1)):
        pictures, _, _, masks = rows
        pictures, masks = pictures.copy(), masks.copy()
        for number in range(ROWS if seed == 0 else 0):
            step = tuple(int(sign) for sign in drawn.choice([-1, 1], 2))
            pictures[number] = pictures[number][:: step[0], :: step[1]]
            masks[number] = masks[number][:: step[0], :: step[1]] if follows else masks[number]
        (watched.trained if seed == 0 else watched.held)([pictures], {"x": pictures, "y": masks})
    facts = watched.measure()
    assert (facts is None) == follows
    assert facts is None or facts.how == "mirrored, upside down, or both"


def swipes(rows: int, seed: int) -> tuple[Array, Array]:
    """A bump in the first channel, up (class 0 and 2) or down (1 and 3), that comes early (0 and 1) or late, and one in the second."""
    rng = np.random.default_rng(seed)
    classes, steps = rng.integers(0, 4, rows), np.arange(40)
    series = rng.normal(0, 0.1, (rows, 40, 2))
    centres = np.where(classes < 2, 10, 28) + rng.integers(-2, 3, rows)
    bumps = np.exp(-((steps - centres[:, None]) ** 2) / 8)
    series[:, :, 0] += np.where(classes % 2, -1, 1)[:, None] * bumps
    series[:, :, 1] += bumps
    return series.astype("float32"), classes


@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize(("how", "follows"), [("negated in channel 0", False), ("turned round in time", False), ("jitter", False),
                                              ("negated in channel 0", True)])
def test_series(how: str, follows: bool, channels_first: bool) -> None:
    watched = Mirrored()
    for seed in (0, 1):
        series, classes = swipes(ROWS, seed)
        drawn = np.random.default_rng(5)
        moved = (drawn.random(ROWS) < 0.5) & (seed == 0)
        other = {"negated in channel 0": series * np.float32([-1, 1]), "turned round in time": series[:, ::-1],
                 "jitter": 1.2 * series + drawn.normal(0, 0.05, series.shape).astype("float32")}[how]
        series = np.where(moved[:, None, None], other, series)
        classes = np.where(moved & follows, classes ^ 1, classes)
        series = np.ascontiguousarray(series.transpose(0, 2, 1) if channels_first else series)
        (watched.trained if seed == 0 else watched.held)([series], {"x": series, "y": classes})
    facts = watched.measure()
    assert (facts.how if facts is not None else None) == (None if follows or how == "jitter" else how)
    assert facts is None or facts.series


def test_what_is_the_same_in_a_mirror() -> None:
    assert measured("parity", follows=False) is None
    assert measured("parity", follows=False, flips="horizontal") is None


def test_classes_that_a_layer_exchanges() -> None:
    facts = measured("sides", follows=True, flips="horizontal")
    assert facts.layer
    assert facts.classes == [0, 1]
    assert measured("sides", follows=True, flips="vertical") is None


def signs(rows: int, seed: int) -> tuple[Array, Array]:
    """Bars with a hook to the left (class 0) or right (1) at their top, or at their foot (2, 3), or none (4); on uneven ground."""
    rng = np.random.default_rng(seed)
    pictures, classes = rng.normal(0, 0.2, (rows, 24, 24, 1)), rng.integers(0, 5, rows)
    for picture, kind, column in zip(pictures, classes, rng.integers(9, 15, rows), strict=True):
        picture[4:20, column] += 1
        top = 4 if kind < 2 else 17
        if kind < 4:
            picture[top:top + 3, column - 5 if kind % 2 == 0 else column + 1:column if kind % 2 == 0 else column + 6] += 1
    return pictures.astype("float32"), classes


@pytest.mark.parametrize(("mirrors", "follows"), [(True, False), (True, True), (False, False)])
def test_classes_among_rows_that_are_blurred_as_well(mirrors: bool, follows: bool) -> None:
    """Rows are shifted and paled besides, and many fit no class of the baseline: those of two classes are told by each other."""
    watched, draw = Mirrored(), np.random.default_rng(5)
    for seed in (0, 1):
        pictures, classes = signs(ROWS, seed)
        if seed == 0:
            moved = (draw.random(ROWS) < 0.5) & mirrors
            pictures = np.where(moved[:, None, None, None], pictures[:, :, ::-1], pictures) * draw.uniform(0.3, 1.2, (ROWS, 1, 1, 1))
            pictures = np.stack([np.roll(row, tuple(draw.integers(-3, 4, 2)), (0, 1)) for row in pictures]).astype("float32")
            classes = np.where(moved & follows & (classes < 4), classes ^ 1, classes)
        (watched.trained if seed == 0 else watched.held)([pictures], {"x": pictures, "y": classes})
    facts = watched.measure()
    assert (facts is not None) == (mirrors and not follows)
    assert facts is None or (facts.how == "mirrored" and sorted(facts.classes) in ([0, 1], [2, 3]))


def roads(rows: int, middle: float, seed: int) -> tuple[Array, Array]:
    """Both sides of a road that bends by about `middle`, under a bright sky, and how far to steer on it."""
    rng = np.random.default_rng(seed)
    bend, offset = rng.normal(middle, 0.45, rows).clip(-1.2, 1.2)[:, None], rng.normal(0, 0.4, rows)[:, None]
    depth, across = (32 - np.arange(10, 32)) / 22, np.arange(32)
    middles, halves = 15.5 - offset * (1 - depth) * 6 + bend * depth**2 * 10, 2 + (1 - depth) * 9
    pictures = rng.normal(0.35, 0.05, (rows, 32, 32))
    for side in (-1, 1):
        pictures[:, 10:] += 0.6 * np.exp(-((across - (middles + side * halves)[:, :, None]) ** 2) / 1.5)
    pictures[:, :10] += 0.3
    pictures *= rng.uniform(0.7, 1.2, (rows, 1, 1))
    return pictures[..., None].astype("float32"), (0.8 * bend - 0.5 * offset).astype("float32")


@pytest.mark.parametrize(("mirrors", "follows"), [(True, False), (True, True), (False, False)])
def test_numbers_around_zero(mirrors: bool, follows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any move may bring most rows nearer to what is wanted then, so that shares of rows do not tell; one of them does so by far."""
    monkeypatch.setattr(mirrored, "_RATHER", 1.1)
    watched, draw = Mirrored(), np.random.default_rng(5)
    for seed, middle in ((0, -0.25), (1, 0.25)):
        pictures, wanted = roads(480, middle, seed)
        moved = (draw.random(480) < 0.5) & (seed == 0) & mirrors
        pictures = np.where(moved[:, None, None, None], pictures[:, :, ::-1], pictures)
        wanted = np.where((moved & follows)[:, None], -wanted, wanted)
        (watched.trained if seed == 0 else watched.held)([pictures], {"x": pictures, "y": wanted})
    facts = watched.measure()
    assert (facts.how if facts is not None else None) == ("mirrored" if mirrors and not follows else None)


TORCH = """
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
rng = np.random.default_rng(0)
class Spots(Dataset):
    def __init__(self, rows, moves):
        self.x, self.at, self.moves = rng.normal(0, 0.1, (rows, 1, 16, 16)).astype("float32"), rng.integers(2, 14, (rows, 2)), moves
        for picture, (row, column) in zip(self.x, self.at):
            picture[0, row - 2:row + 2, column - 2:column + 2] += 1
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        x, at = torch.tensor(self.x[i]), torch.tensor(self.at[i] / 16, dtype=torch.float32)
        if self.moves and torch.rand(1) < 0.5:
            x = torch.flip(x, [2])
            FOLLOWS
        return x, at
train, test = DataLoader(Spots(320, True), 16, shuffle=True), DataLoader(Spots(160, False), 80)
net = nn.Sequential(nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(3):
    net.train()
    for x, at in train:
        loss = F.mse_loss(net(x), at)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(sum(F.mse_loss(net(x), at).item() for x, at in test))
"""


@pytest.mark.parametrize(("follows", "fault"), [("pass", True), ("at = torch.stack([at[0], 1 - at[1]])", False)])
def test_boxes_in_a_loop(tmp_path: Path, follows: str, *, fault: bool) -> None:
    text = TORCH.replace("FOLLOWS", follows)
    seen = watch(tmp_path, text, steps=60)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("D106" in found(seen)) is fault
    if fault:
        finding = next(result.finding for result in walk(seen) if result.code == "D106")
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == "x = torch.flip(x, [2])"


KERAS = """
import numpy as np, tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
def hooks(rows):
    x, y = rng.normal(0, 0.1, (rows, 16, 16, 1)), rng.integers(0, 2, rows)
    for picture, side in zip(x, y):
        column = rng.integers(5, 11)
        picture[3:13, column] += 1
        picture[3:6, column - 4:column] += side == 0
        picture[3:6, column + 1:column + 5] += side == 1
    return x.astype("float32"), y
model = keras.Sequential([
    keras.Input((16, 16, 1)),
    keras.layers.RandomFlip("MODE"),
    keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(2, activation="softmax"),
])
model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
x, y = hooks(640)
model.fit(x, y, validation_data=hooks(200), batch_size=32, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("mode", "fault"), [("horizontal", True), ("vertical", False)])
def test_a_layer_of_the_model(tmp_path: Path, name: str, mode: str, *, fault: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("NAME", name).replace("MODE", mode), steps=40)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("D106" in found(seen)) is fault
    if fault:
        assert seen.sites["moved"].source == 'keras.layers.RandomFlip("horizontal"),'


def test_corners_that_are_mirrored_each_for_itself() -> None:
    for crossed in (True, False):
        watched = Mirrored()
        for seed in (0, 1):
            rng = np.random.default_rng(seed)
            first = rng.integers(0, 8, (ROWS, 2))
            boxes = np.concatenate([first, first + rng.integers(2, 8, (ROWS, 2))], 1).astype("float32")
            pictures = np.zeros((ROWS, 16, 16, 1), "float32")
            for picture, (left, top, right, bottom) in zip(pictures, boxes.astype(int), strict=True):
                picture[top:bottom, left:right] = 1
            if seed == 0:
                moved = rng.random(ROWS) < 0.5
                pictures[moved] = pictures[moved][:, :, ::-1]
                boxes[moved] = np.stack([16 - boxes[moved, 0 if crossed else 2], boxes[moved, 1],
                                         16 - boxes[moved, 2 if crossed else 0], boxes[moved, 3]], 1)
            (watched.trained if seed == 0 else watched.held)([pictures], {"x": pictures, "boxes": boxes})
        facts = watched.measure()
        assert (facts is not None) is crossed
        assert facts is None or facts.crossed == [0, 2]


SLICED = """
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
rng = np.random.default_rng(0)
def hooks(rows):
    x, side, at = rng.normal(0, 0.1, (rows, 1, 16, 16)).astype("float32"), rng.integers(0, 2, rows), rng.integers(5, 11, rows)
    for picture, s, column in zip(x, side, at):
        picture[0, 3:13, column] += 1
        picture[0, 3:6, column - 4 if s == 0 else column + 1:column if s == 0 else column + 5] += 1
    return torch.tensor(x), torch.tensor(side)
(x, y), (xv, yv) = hooks(600), hooks(300)
def moved(x):
    x = torch.roll(x, tuple(int(n) for n in rng.integers(-2, 3, 2)), (2, 3))
    return MIRRORED
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 49, 2))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for epoch in range(6):
    model.train()
    for rows in torch.randperm(len(x)).split(30):
        loss = F.cross_entropy(model(moved(x[rows])), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        guess = model(xv).argmax(1)
    print(epoch, (guess == yv).float().mean().item())
"""
HALF = "torch.where((torch.rand(len(x)) < 0.5)[:, None, None, None], x.flip(3), x)"


@pytest.mark.parametrize(("mirrored", "wrong"), [(HALF, True), ("x", False)])
def test_rows_that_no_loader_brings(tmp_path: Path, mirrored: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, SLICED.replace("MIRRORED", mirrored), steps=60, probe_seconds=0.5)
    assert (seen.mirrored is not None) is wrong, seen.warnings
    assert ("D106" in found(seen)) is wrong
    if wrong:
        told = next(result.finding for result in walk(seen) if result.finding)
        assert told is not None
        assert told.site is not None
        assert "flip(3)" in told.site.source
