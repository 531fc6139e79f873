"""Padding that layers read: the script's steps, taken again without it, come further than many more of them do with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.observation import Observation
from tests.frameworks.watching import watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
level = rng.normal(size=200)  # of each word; a text's class is that of most of its words
want = rng.integers(0, 3, 960)
x = np.zeros((960, WIDTH), dtype="int64")
for row, label in zip(x, want):
    length = int(np.clip(rng.lognormal(2.3, 0.6), 4, WIDTH - 1))
    weights = np.exp(1.2 * (label - 1) * level)
    row[:length] = 1 + rng.choice(200, length, p=weights / weights.sum())
"""
TORCH = DATA + """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.out = nn.Embedding(201, 16), nn.LSTM(16, 24, batch_first=True), nn.Linear(SIZE, 3)
    def forward(self, ids):
        h = self.embed(ids)
        return self.out(READ)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 4e-3)
x, want = torch.from_numpy(x), torch.from_numpy(want)
for epoch in range(2):
    for rows in torch.randperm(960).split(20):
        loss = F.cross_entropy(model(x[rows]), want[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = DATA + """
import NAME as keras
from NAME import layers
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((WIDTH,), dtype="int32"), layers.Embedding(201, 16MASK), layers.READ, layers.Dense(3)])
model.compile(keras.optimizers.Adam(4e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, want, batch_size=20, epochs=2, verbose=0)
"""
SUMMED = "(h * (ids != 0)[..., None]).sum(1) / (ids != 0).sum(1, keepdim=True)"


@pytest.mark.parametrize(("read", "width", "line"), [
    ("h.mean(1)", 240, "return self.out(h.mean(1))"), ("torch.mean(h, dim=1)", 240, "return self.out(torch.mean(h, dim=1))"),
    ("self.lstm(h)[0][:, -1]", 120, "return self.out(self.lstm(h)[0][:, -1])"), (SUMMED, 240, None),
    ("h.mean(1)", 20, None), ("self.lstm(h)[0][torch.arange(len(h)), (ids != 0).sum(1) - 1]", 120, None)])
def test_of_torch(tmp_path: Path, read: str, width: int, line: str | None) -> None:
    size = "24" if "lstm" in read else "16"
    _told(watch(tmp_path, TORCH.replace("READ", read).replace("WIDTH", str(width)).replace("SIZE", size), steps=80, probe_seconds=6), line)


@pytest.mark.parametrize(("name", "read", "mask", "width", "line"), [
    ("keras", "GlobalAveragePooling1D()", "", 240, True), ("tf_keras", "GlobalAveragePooling1D()", "", 240, True),
    ("keras", "LSTM(24)", "", 120, True), ("keras", "GlobalAveragePooling1D()", ", mask_zero=True", 240, False),
    ("keras", "GlobalAveragePooling1D()", "", 20, False), ("keras", "GlobalMaxPooling1D()", "", 240, False)])
def test_of_keras(tmp_path: Path, name: str, read: str, mask: str, width: int, line: bool) -> None:
    pytest.importorskip(name)
    text = KERAS.replace("NAME", name).replace("READ", read).replace("MASK", mask).replace("WIDTH", str(width))
    told = next((row for row in text.splitlines() if read in row), None) if line else None
    _told(watch(tmp_path, text, steps=80, probe_seconds=6), told)


def _told(seen: Observation, line: str | None) -> None:
    assert not seen.warnings, seen.warnings
    told = next(each.finding for each in walk(seen) if each.code == "B102")
    kept = [(each.kind, each.own.final_loss, each.without.final_loss) for each in seen.probes.restraints]
    assert (told.site.source if told is not None else None) == line, (seen.probes.real, kept, told)
