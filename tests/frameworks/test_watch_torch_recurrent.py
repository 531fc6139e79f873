"""Recurrent cells that are given their state without a history, and healthy ones that look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randint(0, 4, (320, 12))
Y = X[:, 0].clone()
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4, 8)
        self.cell = nn.GRUCell(8, 16)
        self.layer = nn.LSTM(8, 16, batch_first=True)
        self.head = nn.Linear(16, 4)
    def forward(self, x):
BODY
        return self.head(h)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for start in range(0, 320, 32):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X[start:start + 32]), Y[start:start + 32])
        loss.backward()
        optimizer.step()
"""
CELL = """
        h = torch.zeros(len(x), 16)
        for t in range(x.size(1)):
            h = self.cell(self.embed(x[:, t]), h{detach})
"""
LAYER = """
        state = (torch.zeros(1, len(x), 16), torch.zeros(1, len(x), 16))
        for t in range(x.size(1)):
            out, state = self.layer(self.embed(x[:, t:t + 1]), tuple(part{detach} for part in state))
        h = state[0][0]
"""
PORTIONS = """
        state = None
        for t in range(0, x.size(1), 2):
            out, state = self.layer(self.embed(x[:, t:t + 2]), state)
            state = tuple(part.detach() for part in state)
        h = out[:, -1]
"""
EVERY_FOURTH = """
        h = torch.zeros(len(x), 16)
        for t in range(x.size(1)):
            h = self.cell(self.embed(x[:, t]), h if t % 4 else h.detach())
"""


@pytest.mark.parametrize("body", [CELL, LAYER], ids=["cell", "layer"])
def test_a_state_that_is_detached_at_every_step_of_time(body: str, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD.replace("BODY", body.format(detach=".detach()")))
    first = next(result for result in walk(seen) if result.state == "found")
    assert first.code == "G302"
    assert first.finding is not None
    assert "one step back" in first.finding.message
    assert first.finding.site is not None
    assert "self." in first.finding.site.source


@pytest.mark.parametrize("body", [CELL.format(detach=""), LAYER.format(detach=""), PORTIONS, EVERY_FOURTH],
                         ids=["cell", "layer", "portions", "every-fourth"])
def test_states_with_a_history(body: str, tmp_path: Path) -> None:
    assert "G302" not in found(watch(tmp_path, HEAD.replace("BODY", body)))
