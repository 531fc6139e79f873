"""Attention whose softmax runs along one axis and whose sum runs along another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, LOOP, found, watch

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.out = nn.Linear(2, 16), nn.Linear(16, 2)
        self.q, self.k, self.v = (nn.Linear(16, 16) for _ in range(3))
    def forward(self, x):
        x = self.up(x.view(-1, 5, 2))
        q, k, v = (part(x).view(-1, 5, 4, 4).transpose(1, 2) for part in (self.q, self.k, self.v))
        SCORES
        y = x + mixed.transpose(1, 2).reshape(len(x), 5, 16)
        return self.out(y.mean(1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""
PLAIN = "weights = torch.softmax(q @ k.transpose(-1, -2) / 2, dim={})\n        mixed = {} @ v"
SUMMED = """weights = torch.softmax(torch.einsum('bhqd,bhkd->bhqk', q, k) / 2, dim={})
        mixed = torch.einsum('bhqk,bhkd->bhqd', weights, v)"""
SLOTS = """weights = torch.softmax(q @ k.transpose(-1, -2), dim=-2) + 1e-6
        mixed = (weights / weights.sum(-1, keepdim=True)) @ v"""


@pytest.mark.parametrize(("scores", "fault"), [
    (PLAIN.format(-1, "weights"), False),
    (PLAIN.format(3, "F.dropout(weights, 0.1, self.training)"), False),
    (PLAIN.format(1, "weights"), True),  # over the heads
    (PLAIN.format(-2, "weights"), True),  # over the queries
    (PLAIN.format(-2, "weights.transpose(-1, -2)"), False),
    (PLAIN.format(1, "F.dropout(weights, 0.1, self.training)"), True),
    (SUMMED.format(2), True),
    (SUMMED.format(-1), False),
    # attention of linear cost: each softmax along what it is multiplied along
    ("mixed = torch.softmax(q, dim=-1) @ (torch.softmax(k, dim=-2).transpose(-1, -2) @ v)", False),
    # slots compete for what there is, and their weights are made means afterwards
    (SLOTS, False)])
def test_the_axis_of_a_softmax(tmp_path: Path, scores: str, fault: bool) -> None:
    seen = watch(tmp_path, HEAD + NET.replace("SCORES", scores) + LOOP)
    assert [code for code in found(seen) if code == "F114"] == (["F114"] if fault else [])
    if fault:
        assert seen.contracted is not None
        assert seen.contracted.site is not None
        assert "softmax" in seen.contracted.site.source
