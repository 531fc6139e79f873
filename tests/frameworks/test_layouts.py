"""Arrays whose axes do not say how their numbers lie, on made-up images and series; and scripts that cut them so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch.layouts import facts
from tests.frameworks.watching import found, watch

RANDOM = np.random.default_rng(0)
N, T, C = 48, 50, 3


def images(side: int = 24) -> np.ndarray:
    """Smooth pictures float[rows, 3, side, side], the colours of which go together."""
    drawn = RANDOM.normal(size=(N, 1, side + 4, side + 4)) * 0.6 + RANDOM.normal(size=(N, 3, side + 4, side + 4))
    for _ in range(4):
        drawn = (drawn + np.roll(drawn, 1, 2) + np.roll(drawn, 1, 3)) / 3
    return drawn[:, :, :side, :side] + np.array([0.3, 0.0, -0.2]).reshape(1, 3, 1, 1)


def noisy() -> np.ndarray:
    """The same under noise that is larger than they are: ratios of at most 1.2."""
    return images() + RANDOM.normal(0, 0.6, size=(N, 3, 24, 24))


def stripes(wide: int) -> np.ndarray:
    """Upright stripes in two random colours float[rows, 3, 24, 24], some noise on them."""
    colours = RANDOM.normal(size=(2, N, 3, 1, 1))
    band = (np.arange(24) // wide + RANDOM.integers(0, 2, (N, 1, 1, 1))) % 2
    return np.where(band == 0, colours[0], colours[1]) + RANDOM.normal(0, 0.1, (N, 3, 24, 24))


def sines(channels: int = C, noise: float = 0.2) -> np.ndarray:
    """Series float[rows, T, channels]."""
    pace = RANDOM.uniform(0.1, 0.4, (N, 1, channels))
    return np.sin(np.arange(T)[None, :, None] * pace + RANDOM.uniform(0, 6, (N, 1, channels))) + RANDOM.normal(0, noise, (N, T, channels))


def candles(gap: float) -> np.ndarray:
    """Four prices of a day float[rows, T, 4], one behind the other, with a jump over night."""
    steps = RANDOM.normal(size=(N, T, 4))
    steps[:, :, 0] *= gap
    return steps.reshape(N, -1).cumsum(1).reshape(N, T, 4)


def turned(data: np.ndarray, *axes: int) -> np.ndarray:
    return np.ascontiguousarray(data.transpose(axes))


CUT = [
    ("colours first, cut to last", lambda: turned(images(), 0, 1, 2, 3).reshape(N, 24, 24, 3), [3, 24, 24]),
    ("colours last, cut to first", lambda: turned(images(), 0, 2, 3, 1).reshape(N, 3, 24, 24), [24, 24, 3]),
    ("noisy colours last, cut to first", lambda: turned(noisy(), 0, 2, 3, 1).reshape(N, 3, 24, 24), [24, 24, 3]),
    ("noisy colours first, cut to last", lambda: noisy().reshape(N, 24, 24, 3), [3, 24, 24]),
    ("channels last, cut to first", lambda: sines().reshape(N, C, T), [T, C]),
    ("channels first, cut to last", lambda: turned(sines(), 0, 2, 1).reshape(N, T, C), [C, T]),
    ("walks, cut", lambda: turned(RANDOM.normal(size=(N, T, C)).cumsum(1), 0, 2, 1).reshape(N, T, C), [C, T])]
NOISY = [make for name, make, _ in CUT if name.startswith("noisy")]
WHOLE = [
    ("colours first", images), ("noisy colours first", noisy), ("noisy colours last", lambda: turned(noisy(), 0, 2, 3, 1)),
    ("stripes three pixels wide", lambda: stripes(3)), ("stripes of one pixel", lambda: stripes(1)),
    ("colours last", lambda: turned(images(), 0, 2, 3, 1)),
    ("grey in three colours", lambda: images()[:, :1].repeat(3, 1)), ("noise", lambda: RANDOM.normal(size=(N, 3, 24, 24))),
    ("channels last", sines), ("channels first", lambda: turned(sines(), 0, 2, 1)), ("seven channels", lambda: sines(7)),
    ("candles", lambda: candles(1.0)), ("candles with gaps", lambda: candles(4.0)),
    ("pieces of one series", lambda: np.sin(np.arange(N * T * C) * 0.07).reshape(N, T, C)),
    ("a week of seven channels", lambda: np.sin(2 * np.pi * (np.arange(T)[None, :, None] + RANDOM.integers(0, 7, (N, 1, 7))) / 7)),
    ("white series", lambda: RANDOM.normal(size=(N, T, C))), ("one-hot", lambda: np.eye(4)[RANDOM.integers(0, 4, (N, T))]),
    ("constant", lambda: np.ones((N, 3, 24, 24))), ("nothing finite", lambda: np.full((N, T, C), np.nan)),
    ("two axes", lambda: RANDOM.normal(size=(N, T))), ("few rows", lambda: sines()[:2].reshape(2, C, T))]


@pytest.mark.parametrize(("make", "before"), [case[1:] for case in CUT], ids=[case[0] for case in CUT])
def test_what_was_cut_is_smoother_read_the_other_way(make, before: list[int]) -> None:
    seen = facts(make())
    assert seen is not None
    assert seen.before == before
    assert seen.rougher > (1.04 if make in NOISY else 1.25)


@pytest.mark.parametrize("make", [case[1] for case in WHOLE], ids=[case[0] for case in WHOLE])
def test_nothing_is_said_of_what_lies_as_its_axes_say(make) -> None:
    assert facts(make()) is None


SCRIPT = """
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
rng = np.random.default_rng(0)
kinds = rng.integers(0, 2, 320)
yy, xx = np.mgrid[:16, :16]
def picture(kind):
    image = rng.normal(0.2, 0.03, (16, 16, 3))
    y, x = rng.integers(4, 12, 2)
    image[(abs(yy - y) < 3) & (abs(xx - x) < 3) if kind else (yy - y) ** 2 + (xx - x) ** 2 < 9] += [0.6, 0.3, 0.0]
    return image
images = np.stack([picture(kind) for kind in kinds]).astype("float32")
images = images.MOVE
X, y = torch.from_numpy(np.ascontiguousarray(images)), torch.from_numpy(kinds)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(320).split(32):
        loss = F.cross_entropy(model(X[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("move", "fault"), [("reshape(-1, 3, 16, 16)", True), ("transpose(0, 3, 1, 2)", False)])
def test_a_script_that_cuts_its_images_with_numpy(tmp_path: Path, move: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, SCRIPT.replace("MOVE", move), steps=30)
    assert ("D103" in found(seen)) is fault
    assert (seen.sites["reshaped"].source == "images = images.reshape(-1, 3, 16, 16)" if fault else "reshaped" not in seen.sites)
