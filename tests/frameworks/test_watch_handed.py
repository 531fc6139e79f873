"""Parts of a batch that change places between training and evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

PICKS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
users, items = torch.arange(60).repeat_interleave(60), torch.cat([torch.randperm(60) for _ in range(60)])
taste, fame = torch.randn(60), torch.randn(60)
stars = taste[users] + fame[items] + taste[users] * fame[items]
order = torch.randperm(3600)
parts = [part[order] for part in (users, items, stars)]
train = DataLoader(TensorDataset(*[part[:2800] for part in parts]), batch_size=70, shuffle=True)
test = DataLoader(TensorDataset(*[part[2800:] for part in parts]), batch_size=200)
class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.p, self.q, self.a, self.b = nn.Embedding(60, 4), nn.Embedding(60, 4), nn.Embedding(60, 1), nn.Embedding(60, 1)
    def forward(self, user, item):
        return (self.p(user) * self.q(item)).sum(-1) + self.a(user)[:, 0] + self.b(item)[:, 0]
model = Factors()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
for epoch in range(5):
    model.train()
    for TRAINED, star in train:
        loss = nn.functional.mse_loss(model(user, item), star)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(sum(((model(CALLED) - star) ** 2).mean().item() for HELD, star in test))
"""


@pytest.mark.parametrize(("trained", "held", "called", "fault"), [
    ("item, user", "user, item", "user, item", True), ("user, item", "user, item", "item, user", True),
    ("user, item", "user, item", "item=item, user=user", False), ("user, item", "a, b", "a, b", False)])
def test_pairs_of_ids(tmp_path: Path, trained: str, held: str, called: str, *, fault: bool) -> None:
    text = PICKS.replace("TRAINED", trained).replace("HELD", held).replace("CALLED", called)
    seen = watch(tmp_path, text, steps=250)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert (seen.evaluation.handed is not None) is fault
    assert found(seen) == (["D106"] if fault else []), seen.evaluation.relation
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source.startswith(f"for {trained}, star in train")
