"""Ratios of a policy's probabilities: of the policy that acted, or of the policy to itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

POLICY = """
import torch
from torch import nn
torch.manual_seed(0)
actor, critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2)), nn.Linear(3, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
def logp(states, actions):
    return torch.distributions.Categorical(logits=actor(states)).log_prob(actions)
for update in range(10):
    states = torch.randn(64, 3)
    with torch.no_grad():
        actions = torch.distributions.Categorical(logits=actor(states)).sample()
        acted = logp(states, actions)
    rewards = (actions == (states[:, 0] > 0)).float()
    advantage = rewards - critic(states).squeeze(-1).detach()
    for epoch in range(EPOCHS):
        new = logp(states, actions)
        ratio = RATIO
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        critic_loss = (critic(states).squeeze(-1) - rewards).pow(2).mean()
        optimizer.zero_grad()
        (policy_loss + critic_loss).backward()
        optimizer.step()
"""
SELF = ["torch.exp(new - logp(states, actions))", "(new - logp(states, actions)).exp()", "new.exp() / logp(states, actions).exp()"]
OTHER = ["torch.exp(new - acted)", "torch.exp(new - logp(states, actions).detach())", "torch.exp(new - 0.5 * logp(states, actions))"]


@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize(("ratio", "fault"), [*((text, True) for text in SELF), *((text, False) for text in OTHER)])
def test_a_ratio(tmp_path: Path, ratio: str, epochs: int, *, fault: bool) -> None:
    seen = watch(tmp_path, POLICY.replace("RATIO", ratio).replace("EPOCHS", str(epochs)), probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("L231" in found(seen)) is fault, seen.own_ratio
    if fault:
        assert seen.own_ratio is not None
        assert seen.own_ratio.site is not None
        assert seen.own_ratio.site.source.startswith("ratio =")
