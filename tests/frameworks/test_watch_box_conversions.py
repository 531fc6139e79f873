"""Boxes that a script brings from one form to another: in the form that the function reads, or in another."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.box_forms import BoxForms
from tests.frameworks.watching import found, watch

SCRIPT = """
import torch, torch.nn as nn
torch.manual_seed(0)
size = 0.2 + 0.3 * torch.rand(240, 2)
corner = torch.rand(240, 2) * (1 - size)
x = torch.cat([corner, size], 1) + 0.01 * torch.randn(240, 4)
y = torch.cat([FIRST, size], 1)
def to_corners(box):
    first, size = box[..., :2], box[..., 2:]
    return torch.cat([READ], -1)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for rows in torch.randperm(240).split(20):
        loss = (to_corners(model(x[rows]).sigmoid()) - to_corners(y[rows])).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
SIZED, CENTRED = "first, first + size", "first - size / 2, first + size / 2"


@pytest.mark.parametrize(("first", "read", "fault"), [
    ("corner", CENTRED, "takes a box for a middle and a size"), ("corner + size / 2", CENTRED, ""), ("corner", SIZED, ""),
    ("corner + size / 2", SIZED, "takes a box for a corner and a size"),
    ("3 * corner", CENTRED, ""),  # where the picture ends is not known
    ("corner", "first, first + size ** 2", "")])  # no form at all
def test_forms(tmp_path: Path, first: str, read: str, fault: str) -> None:
    seen = watch(tmp_path, SCRIPT.replace("FIRST", first).replace("READ", read))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("D124" in found(seen)) == bool(fault), seen.boxes
    if fault:
        finding = BoxForms().check(seen)
        assert finding is not None
        assert fault in finding.message
