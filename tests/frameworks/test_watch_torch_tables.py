"""Numbers of rows that become a table of all pairs on their way to a loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

EPISODES = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=3e-3)
for episode in range(60):
    states = torch.randn(12, 4)
    drawn = torch.distributions.Categorical(logits=policy(states))
    actions = drawn.sample()
    logp = drawn.log_prob(actions)
    rewards = (actions == states[:, :3].argmax(1)).float()
    returns = rewards.flip(0).cumsum(0).flip(0)
    v = value(states)
    LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
VALUE = "F.mse_loss(v.squeeze(-1), returns)"
LOSSES = {
    f"loss = -(logp * (returns - v.detach())).mean() + {VALUE}": True,
    f"loss = -(logp * (returns - v.detach().squeeze(-1))).mean() + {VALUE}": False,
    f"loss = -(logp * (returns - v.detach().squeeze(-1)).unsqueeze(1)).mean() + {VALUE}": True,
    f"adv = returns - v.detach(); adv = (adv - adv.mean()) / (adv.std() + 1e-8); loss = -(logp * adv).sum() + {VALUE}": True,
    "r = torch.exp(logp - logp.detach()); a = returns - v.detach(); loss = -torch.min(r * a, r.clamp(0.8, 1.2) * a).mean()": True,
    f"w = (returns[:, None] > returns).float(); loss = -((logp[:, None] - logp) * w).mean() + {VALUE}": False,
    f"d = returns[:, None] - returns; loss = (torch.exp(logp) * (d * d)).mean() + {VALUE}": False,
    f"d = returns[:, None] - returns; loss = -(logp * torch.exp(-d ** 2)).mean() + {VALUE}": False,
}


@pytest.mark.parametrize("loss", LOSSES)
def test_the_mean_of_a_table_that_nobody_meant(tmp_path: Path, loss: str) -> None:
    seen = watch(tmp_path, EPISODES.replace("LOSS", loss))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert (seen.paired is not None) is LOSSES[loss]
    assert ("L203" in found(seen)) is LOSSES[loss]
