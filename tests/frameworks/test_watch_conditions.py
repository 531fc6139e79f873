"""Numbers that a model is given beside its rows, in training and in sampling."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch.conditions import Conditions
from tests.frameworks.watching import found, watch

DIFFUSION = """
import torch, torch.nn as nn
torch.manual_seed(0)
STEPS = 50
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 2))
    def forward(self, x, time):
        return self.net(torch.cat([x, time.float()[:, None] / INSIDE], 1))
model, data = Net(), torch.randn(512, 2) * 0.3 + 1
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
keep = torch.cumprod(1 - torch.linspace(1e-3, 0.1, STEPS), 0)
for step in range(40):
    x, t, noise = data[torch.randint(512, (64,))], torch.randint(STEPS, (64,)), torch.randn(64, 2)
    noisy = keep[t, None].sqrt() * x + (1 - keep[t, None]).sqrt() * noise
    loss = ((model(noisy, TRAINED) - noise) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    x = torch.randn(32, 2)
    for number in reversed(range(STEPS)):
        t = torch.full((32,), number)
        x = x - 0.02 * model(x, SAMPLED)
"""


@pytest.mark.parametrize(("trained", "sampled", "fault"), [
    ("t / STEPS", "t.float()", True), ("t", "t / STEPS", True), ("t / STEPS", "t / STEPS", False), ("t", "t", False),
    ("t / STEPS", "t.float() / (STEPS - 1)", False)])
def test_the_time_of_a_diffusion(tmp_path: Path, trained: str, sampled: str, *, fault: bool) -> None:
    text = DIFFUSION.replace("TRAINED", trained).replace("SAMPLED", sampled).replace("INSIDE", "1")
    seen = watch(tmp_path, text, steps=40, probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert seen.evaluation.condition is not None
    assert ("E508" in found(seen)) is fault, seen.evaluation.condition
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "E508")
        assert told is not None
        assert told.site is not None
        assert told.site.source == f"x = x - 0.02 * model(x, {sampled})"


def test_what_is_no_number_beside_rows() -> None:
    """Columns that are given one by one, and a second table."""
    watched, rng = Conditions(), np.random.default_rng(0)
    for _ in range(5):
        columns = rng.random((2, 16, 1))
        watched.trained("columns", list(columns))
        watched.held("columns", list(100 * columns))
        watched.trained("tables", list(rng.random((2, 16, 4))))
        watched.held("tables", list(100 * rng.random((2, 16, 4))))
    assert watched.facts() is None


def test_too_few_calls_tell_nothing() -> None:
    watched, rng = Conditions(), np.random.default_rng(0)
    for number in range(5):
        watched.trained("net", [rng.random((16, 4)), rng.random(16)])
        if number < 3:
            watched.held("net", [rng.random((16, 4)), 100 * rng.random(16)])
    assert watched.facts() is None
