"""What a sampler tells its model about the time."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import told_steps
from tests.frameworks.watching import found, watch

SAMPLER = """
import torch, torch.nn as nn
torch.manual_seed(0)
kept = torch.linspace(0.99, 0.01, 100)
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
def guess(x, t):
    return net(torch.cat([x, t[:, None] / 100], 1))
for step in range(40):
    x, t, noise = torch.randn(64, 2) / 2, torch.randint(0, 100, (64,)), torch.randn(64, 2)
    noisy = kept[t][:, None].sqrt() * x + (1 - kept[t])[:, None].sqrt() * noise
    loss = nn.functional.mse_loss(guess(noisy, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
@torch.no_grad()
def sample(n, steps=10):
    grid = torch.linspace(0, 99, steps).long()
    levels = kept[grid]
    x = torch.randn(n, 2)
    for k in reversed(range(steps)):
        BODY
    return x
print(sample(8))
"""
READ, TAKEN = "a = kept[grid[k]]", "a = levels[k]"


@pytest.mark.parametrize("read", [READ, TAKEN])
@pytest.mark.parametrize(("told", "fault"), [
    ("guess(x, torch.full((n,), k))", True), ("guess(x, torch.full((n,), float(k)))", True), ("guess(x, k * torch.ones(n))", True),
    ("guess(x, torch.full((n,), int(grid[k])))", False), ("guess(x, torch.full((n,), grid[k].item()))", False)])
def test_what_is_told(tmp_path: Path, read: str, told: str, *, fault: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(SAMPLER.replace("BODY", f"{read}\n        x = (x - (1 - a).sqrt() * {told}) / a.sqrt()"))
    place = told_steps.written(path)
    assert (place is not None) == fault
    if place is not None:
        assert told in path.read_text().splitlines()[place[1] - 1]


@pytest.mark.parametrize("body", [
    "step = grid[k]\n        a = kept[step]\n        x = (x - (1 - a).sqrt() * guess(x, torch.full((n,), step))) / a.sqrt()",
    "a = kept[k]\n        x = (x - (1 - a).sqrt() * guess(x, torch.full((n,), k))) / a.sqrt()"])
def test_one_number_for_both(tmp_path: Path, body: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(SAMPLER.replace("BODY", body))
    assert told_steps.written(path) is None


def test_it_is_found(tmp_path: Path) -> None:
    assert "E534" in found(watch(tmp_path, SAMPLER.replace("BODY", f"{READ}\n        x = (x - guess(x, torch.full((n,), k))) / a.sqrt()")))
