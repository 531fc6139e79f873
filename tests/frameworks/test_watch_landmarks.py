"""Named points of pictures that are mirrored, with and without their names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch import landmarks
from harness.frameworks.watch.picture_judges import filters_of
from tests.frameworks.watching import found, watch

FACES = """
import numpy as np, torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
NAMED = np.array(POINTS, "float32")
class Faces(Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(0)
        turn = rng.uniform(-0.3, 0.3, count)
        spin = np.stack([np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)], 1).reshape(-1, 2, 2)
        self.points = np.einsum("kc,ndc->nkd", NAMED, spin) * 7 + 11.5 + rng.uniform(-2, 2, (count, 1, 2))
        down, right = np.mgrid[:24, :24]
        each = [sum(sign * np.exp(-((right - x) ** 2 + (down - y) ** 2) / 4) for (x, y), sign in zip(points, SIGNS))
                for points in self.points]
        self.images = torch.tensor(np.stack(each) + rng.normal(0, 0.05, (count, 24, 24)), dtype=torch.float32)[:, None]
        self.points = torch.tensor(self.points, dtype=torch.float32)
    def __len__(self):
        return len(self.points)
    def __getitem__(self, row):
        image, points = self.images[row], self.points[row].clone()
        if torch.rand(()) < 0.5:
            CHANGE
        return image, points / 24
model = nn.Sequential(nn.Flatten(), nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 2 * len(NAMED)))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(3):
    for image, points in DataLoader(Faces(400), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(image).view(points.shape), points).backward()
        optimizer.step()
"""
FACE, EYES = "[[-0.6, -0.5], [0.6, -0.5], [0, 0.1], [-0.4, 0.6], [0.4, 0.6]]", "[1, 1, -1, 0.8, 0.8]"
HAND, FINGERS = "[[-0.9, 0.2], [-0.5, -0.7], [0, -0.9], [0.4, -0.8], [0.7, -0.3]]", "[1, 0.8, 0.6, -0.6, -0.8]"
MIRROR = "image, points[:, 0] = image.flip(-1), 23 - points[:, 0]"


@pytest.mark.parametrize(("points", "signs", "change", "fault"), [
    (FACE, EYES, MIRROR, True), (FACE, EYES, MIRROR + "; points = points[[1, 0, 2, 4, 3]]", False), (FACE, EYES, "pass", False),
    (HAND, FINGERS, MIRROR, False), (FACE, EYES, "image, points = image.flip(-1).flip(-2), 23 - points", False)])
def test_points(tmp_path: Path, points: str, signs: str, change: str, *, fault: bool) -> None:
    text = FACES.replace("POINTS", points).replace("SIGNS", signs).replace("CHANGE", change)
    seen = watch(tmp_path, text, steps=40, probe_seconds=1)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("D106" in found(seen)) == fault, seen.mirrored
    if fault:
        assert seen.mirrored is not None
        assert seen.mirrored.pairs == [[0, 1], [3, 4]]
        assert seen.sites["moved"].source == MIRROR


def test_numbers_that_are_no_points() -> None:
    rng = np.random.default_rng(0)
    pictures = rng.normal(size=(300, 12, 12, 1)).astype("float32")
    assert landmarks.swapped(pictures, rng.normal(size=(300, 10)).astype("float32"), filters_of(pictures), "y") is None
    assert landmarks.swapped(pictures, rng.normal(size=(300, 4)).astype("float32"), filters_of(pictures), "y") is None
