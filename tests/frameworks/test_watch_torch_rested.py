"""Parts of a model that run without gradients in every step, and whose weights no loss reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

TOWERS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
gen = torch.Generator().manual_seed(0)
users, items = torch.randn(400, 8, generator=gen), torch.randn(40, 8, generator=gen)
picked = (users @ torch.randn(8, 8, generator=gen) @ items.T).argmax(1)
class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
        self.item = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
    @torch.no_grad()
    def catalogue(self):
        return self.item(items)
model = Towers()
optimizer = torch.optim.Adam(HELD, 1e-2)
for epoch in range(4):
    for rows in torch.randperm(400).split(20):
        optimizer.zero_grad()
        table = TABLE
        loss = F.cross_entropy(model.user(users[rows]) @ table.T, picked[rows])
        loss.backward()
        optimizer.step()
        AFTER
"""


@pytest.mark.parametrize(("table", "held", "after", "fault"), [
    ("model.catalogue()", "model.parameters()", "pass", True), ("model.item(items).detach()", "model.parameters()", "pass", True),
    ("torch.tensor(model.item(items).tolist())", "model.parameters()", "pass", True),
    ("model.item(items)", "model.parameters()", "pass", False),
    ("model.item(items).detach()", "model.user.parameters()", "pass", False),
    # Its own loss has its own backward pass.
    ("model.item(items).detach(); F.mse_loss(model.item(items), items.repeat(1, 2)).backward()", "model.parameters()", "pass", False),
    # Drawn once and left as it is, on purpose.
    ("model.catalogue()", "model.user.parameters()", "pass", False),
    # Looked at after each step, and trained in it.
    ("model.item(items)", "model.parameters()", "model.catalogue()", False)])
def test_two_towers(tmp_path: Path, table: str, held: str, after: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TOWERS.replace("TABLE", table).replace("HELD", held).replace("AFTER", after), steps=60, seconds=60)
    assert (found(seen)[:1] == ["G302"]) is fault, (found(seen), seen.rested)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == f"table = {table}"
