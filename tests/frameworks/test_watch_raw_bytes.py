"""Recordings that are read in the byte order, or the width, that they were not written in."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

SCRIPT = """
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F
rng, torch_seed = np.random.default_rng(0), torch.manual_seed(0)
def record(label):
    time = np.arange(600) / 4000
    wave = SOUND
    return (8000 * wave + rng.normal(0, 300, 600)).clip(-32768, 32767).astype("<i2").tobytes()
y = torch.arange(64) % 2
x = torch.stack([torch.tensor(np.frombuffer(record(int(label)), dtype=DTYPE).astype("float32")[:600] / 32768) for label in y])
x = torch.cat([x, torch.zeros(64, 600 - x.shape[1])], 1)
model = nn.Linear(600, 2)
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(10):
    for rows in torch.randperm(64).split(16):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
TONE, NOISE = "np.sin(2 * np.pi * (60 + 90 * label) * time)", "rng.normal(size=600)"


@pytest.mark.parametrize(("sound", "dtype", "wrong"), [
    (TONE, '">i2"', True), (TONE, '"uint8"', True), (TONE, '"<i2"', False), (NOISE, '"<i2"', False), (NOISE, '">i2"', False)])
def test_byte_order_and_width(tmp_path: Path, sound: str, dtype: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, SCRIPT.replace("SOUND", sound).replace("DTYPE", dtype))
    assert ("D103" in found(seen)) is wrong, (found(seen), seen.misread)
    if wrong:
        assert seen.misread is not None
        assert seen.misread.written_as == "<i2"
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding is not None
        assert finding.site is not None
        assert "np.frombuffer" in finding.site.source
