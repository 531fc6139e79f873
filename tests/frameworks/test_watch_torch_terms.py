"""Terms of one loss, of which one may drown the other: what becomes of the smaller one alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks import loss_value
from harness.checks.base import walk
from tests.frameworks.watching import watch

pytest.importorskip("torch")

TWO = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(640, 8)
kind = (X[:, 0] + X[:, 1] > 0).long()
where = 40 + 12 * X[:, 2:4]
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.kind, self.where = nn.Linear(16, 2), nn.Linear(16, 2)
    def forward(self, x):
        z = self.body(x)
        return self.kind(z), self.where(z)
net = Two()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(4):
    for at in range(0, 640, 32):
        scores, places = net(X[at:at + 32])
        loss = F.cross_entropy(scores, kind[at:at + 32]) + WEIGHT * F.l1_loss(places, where[at:at + 32])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
"""


@pytest.mark.parametrize(("weight", "drowned"), [(5.0, True), (0.03, False)])
def test_the_smaller_term_is_tried_alone(tmp_path: Path, weight: float, *, drowned: bool) -> None:
    seen = watch(tmp_path, TWO.replace("WEIGHT", str(weight)), steps=60)
    finding = next(result.finding for result in walk(seen) if result.code == "L207")
    assert (finding is not None) == drowned
    assert (seen.probes.term_alone is not None) == drowned
    if finding is not None:
        alone, pulled = seen.probes.term_alone, loss_value.pulled(seen)
        assert alone is not None
        assert pulled is not None
        assert alone.losses[0] == pytest.approx(pulled.small.values[0], rel=1e-5)
        assert (alone.final_loss or 0.0) < 0.9 * (alone.start_loss or 0.0)
        assert not pulled.falls
