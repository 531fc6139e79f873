"""Log-probabilities of actions: of those that were carried out, or of draws that go nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

POLICY = """
import torch
from torch import nn
torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(actor.parameters(), lr=3e-3)
for update in range(20):
    states = torch.randn(64, 3)
    taken = torch.distributions.Categorical(logits=actor(states)).sample()
    rewards = (taken == (states[:, 0] > 0)).float()
    advantages = rewards - rewards.mean()
    dist = torch.distributions.Categorical(logits=actor(states))
    ASKED
    loss = -(log_prob * advantages).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
OWN = """again = dist.sample()
    rewards = (again == (states[:, 0] > 0)).float()
    advantages = rewards - rewards.mean()
    log_prob = dist.log_prob(again)"""


@pytest.mark.parametrize(("asked", "fault"), [
    ("log_prob = dist.log_prob(dist.sample())", True), ("again = dist.sample()\n    log_prob = dist.log_prob(again)", True),
    ("log_prob = dist.log_prob(taken)", False), (OWN, False)], ids=["nested", "named", "taken", "carried out"])
def test_an_action(tmp_path: Path, asked: str, *, fault: bool) -> None:
    seen = watch(tmp_path, POLICY.replace("ASKED", asked), probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("L232" in found(seen)) is fault, (found(seen), seen.policy)
