"""Terms of one loss, of which one may drown the other: what becomes of the smaller one alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks import loss_value
from harness.checks.base import walk
from tests.frameworks.watching import found, watch

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


HALTING = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
shift = torch.randint(1, 12, (1200,))
ids = (torch.arange(25)[None] * shift[:, None]) % 13
ids[:, 1::3] = ids[:, 2::3] = 0  # easy, and known by its share alone
value = 500.0 * shift.float()
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.rows = nn.Embedding(13, 32), nn.GRU(32, 64, batch_first=True)
        self.next, self.value = nn.Linear(64, 13), nn.Linear(64, 1)
    def forward(self, x):
        z, _ = self.rows(self.words(x))
        return self.next(z), self.value(z.mean(1))[:, 0]
net = Two()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(3):
    for rows in torch.randperm(1200).split(32):
        scores, price = net(ids[rows, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), ids[rows, 1:].flatten()) + F.mse_loss(price, value[rows] / SCALE)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
"""


@pytest.mark.parametrize(("scale", "drowned"), [("1", True), ("3000", False)])
def test_a_term_that_comes_down_and_halts(tmp_path: Path, scale: str, *, drowned: bool) -> None:
    """It learns how common each token is, which its own bias can tell, and nothing of the rows."""
    seen = watch(tmp_path, HALTING.replace("SCALE", scale), steps=60, probe_seconds=12.0)
    pulled, alone = loss_value.pulled(seen), seen.probes.term_alone
    assert found(seen) == (["L207"] if drowned else []), (pulled, alone, seen.probes.skipped)
    if drowned:
        assert pulled is not None
        assert pulled.falls
        assert alone is not None
        assert sum(alone.losses[-20:]) < 0.85 * sum(pulled.small.values[-20:])
