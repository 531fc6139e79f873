"""Random motions of a picture and of its target: drawn once for both, or each for itself."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch import motions
from harness.frameworks.watch.session import WatchBudget, WatchSession
from tests.frameworks.watching import found, run, watch

pytest.importorskip("torch")

SCRIPT = """
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
random.seed(0)
def scene(rng):
    image = rng.normal(0, 0.3, (20, 20)).astype("float32")
    mask = np.zeros((20, 20), dtype="int64")
    r, c = rng.integers(2, 12, 2)
    image[r:r + 6, c:c + 4] += 1.5
    mask[r:r + 6, c:c + 4] = 1
    return image, mask
class Scenes(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.rows = [scene(self.rng) for _ in range(96)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        image, mask = self.rows[i]
        MOTION
        return torch.tensor(image.copy())[None], torch.tensor(mask.copy())
train = DataLoader(Scenes(), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for image, mask in train:
        optimizer.zero_grad()
        F.cross_entropy(model(image), mask).backward()
        optimizer.step()
"""
APART = {
    "flips": """if random.random() < 0.5:
            image = image[:, ::-1]
        if random.random() < 0.5:
            mask = mask[:, ::-1]""",
    "only the picture": """if random.random() < 0.5:
            image = image[::-1]""",
    "the picture, whose brightness is drawn too": """if random.random() < 0.5:
            image = image[:, ::-1]
        image = image * random.uniform(0.8, 1.2) + random.uniform(-0.2, 0.2)""",
    "crops": """r, c = random.randrange(5), random.randrange(5)
        image = image[r:r + 16, c:c + 16]
        r, c = random.randrange(5), random.randrange(5)
        mask = mask[r:r + 16, c:c + 16]""",
    "turns": """image = np.rot90(image, self.rng.integers(4))
        mask = np.rot90(mask, self.rng.integers(4))""",
}
TOGETHER = {
    "nothing": "pass",
    "flips": """if random.random() < 0.5:
            image, mask = image[:, ::-1], mask[:, ::-1]""",
    "crops": """r, c = random.randrange(5), random.randrange(5)
        image, mask = image[r:r + 16, c:c + 16], mask[r:r + 16, c:c + 16]""",
    "flips, and a brightness for the picture": """if random.random() < 0.5:
            image, mask = image[:, ::-1], mask[:, ::-1]
        image = image * random.uniform(0.8, 1.2)""",
    "noise": "image = image + self.rng.normal(0, 0.1, image.shape).astype('float32')",
    "dropped pixels": "mask = np.where(self.rng.random(mask.shape) < 0.2, -100, mask)",
}


@pytest.mark.parametrize("motion", APART)
def test_drawn_for_each(tmp_path: Path, motion: str) -> None:
    seen = watch(tmp_path, SCRIPT.replace("MOTION", APART[motion]))
    finding = next(result.finding for result in walk(seen) if result.code == "D106")
    assert finding is not None
    assert finding.site is not None
    last = "mask = " if "mask = " in APART[motion] else "image, mask = self.rows[i]"
    assert last in finding.site.source


@pytest.mark.parametrize("motion", TOGETHER)
def test_drawn_for_both(tmp_path: Path, motion: str) -> None:
    assert "D106" not in found(watch(tmp_path, SCRIPT.replace("MOTION", TOGETHER[motion])))


def test_generators_go_on_as_if_nothing_had_been_asked(tmp_path: Path) -> None:
    session = WatchSession(tmp_path / "train.py", WatchBudget(steps=24, patient_steps=0, probe_seconds=1.0))
    session.attach()
    _, names = run(session, SCRIPT.replace("MOTION", APART["turns"]), tmp_path / "train.py")
    before = random.getstate(), names["train"].dataset.rng.bit_generator.state
    seen = session.finish(None)
    assert seen.augmentation is not None
    assert (random.getstate(), names["train"].dataset.rng.bit_generator.state) == before


@pytest.mark.parametrize(("mirrored", "turns", "shift"), [
    ("", 0, (0, 0)), ("mirrored", 0, (0, 0)), ("", 1, (0, 0)), ("mirrored", 3, (2, -3)), ("", 0, (-4, 4))])
def test_a_motion_is_known_again(mirrored: str, turns: int, shift: tuple[int, int]) -> None:
    how = motions.Motion(bool(mirrored), turns, *shift)
    first = np.random.default_rng(0).normal(size=(24, 24, 3)).astype(np.float32)
    turned = np.rot90(first[:, ::-1] if how.mirrored else first, how.turns)
    second = np.roll(turned, (how.down, how.right), axis=(0, 1)).copy()
    second[:max(0, how.down)] = second[24 + min(0, how.down):] = 9.0
    second[:, :max(0, how.right)] = second[:, 24 + min(0, how.right):] = 9.0
    assert motions.between(first, second) == [how]


def test_plain_pictures_say_nothing() -> None:
    assert motions.between(np.zeros((16, 16, 1), np.float32), np.zeros((16, 16, 1), np.float32)) == []
