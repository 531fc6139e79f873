"""Generators and discriminators: what each loss asks of the score, and the ranges of what is scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

GAN = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
rows = REAL
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 8), ENDING)
D = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
for epoch in range(4):
    for real in rows.split(32):
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = G(torch.randn(len(real), 4))
        d_loss = JUDGED
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = MADE
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
"""
REAL, TANH = "torch.tanh(torch.randn(512, 8) + 0.5)", "nn.Tanh()"
BCE = "F.binary_cross_entropy_with_logits(D(real), ones) + F.binary_cross_entropy_with_logits(D(fake.detach()), zeros)"
CRITIC = "D(fake.detach()).mean() - D(real).mean()"
FRESH = ("F.binary_cross_entropy_with_logits(D(real), 0.9 * ones)"
         " + F.binary_cross_entropy_with_logits(D((made := G(torch.randn(len(real), 4))).detach()), zeros)")


def gan(judged: str, made: str, real: str = REAL, ending: str = TANH) -> str:
    return GAN.replace("JUDGED", judged).replace("MADE", made).replace("REAL", real).replace("ENDING", ending)


@pytest.mark.parametrize(("judged", "made", "wrong"), [
    (BCE, "F.binary_cross_entropy_with_logits(D(fake), zeros)", True), (BCE, "F.binary_cross_entropy_with_logits(D(fake), ones)", False),
    (BCE, "-F.binary_cross_entropy_with_logits(D(fake), zeros)", False), (FRESH, "F.softplus(D(fake)).mean()", True),
    (FRESH, "F.softplus(-D(fake)).mean()", False), (CRITIC, "D(fake).mean()", True), (CRITIC, "-D(fake).mean()", False)])
def test_what_the_maker_asks_for(tmp_path: Path, judged: str, made: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, gan(judged, made), steps=40, probe_seconds=0.3)
    assert seen.warnings == []
    assert ("L220" in found(seen)) is wrong, seen.players
    assert "D120" not in found(seen)
    assert seen.players is not None
    if wrong:
        assert seen.players.site is not None
        assert seen.players.site.source == f"g_loss = {made}"


@pytest.mark.parametrize(("real", "ending", "wrong"), [
    ("torch.rand(512, 8)", TANH, True), ("255 * torch.rand(512, 8)", TANH, True), (REAL, "nn.Sigmoid()", True),
    ("torch.rand(512, 8)", "nn.Tanh(), nn.Unflatten(1, (2, 4)), nn.Flatten()", True),
    ("torch.rand(512, 8)", "nn.Sigmoid()", False), ("torch.rand(512, 8)", "nn.Identity()", False), (REAL, TANH, False),
    ("torch.rand(512, 8) * 2 - 1", TANH, False)])
def test_the_ranges_of_both(tmp_path: Path, real: str, ending: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, gan(BCE, "F.softplus(-D(fake)).mean()", real, ending), steps=40, probe_seconds=0.3)
    assert seen.warnings == []
    assert ("D120" in found(seen)) is wrong, seen.players
    assert "L220" not in found(seen)


def test_an_actor_and_its_critic_are_no_forgers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = """
import torch, torch.nn as nn
torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt_a, opt_c = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 1e-3)
for step in range(40):
    state, action = torch.randn(32, 4), torch.rand(32, 2) * 2 - 1
    reward = -(action - state[:, :2].tanh()).pow(2).sum(1, keepdim=True)
    loss = (critic(torch.cat([state, action], 1)) - reward).pow(2).mean()
    opt_c.zero_grad(); loss.backward(); opt_c.step()
    value = -critic(torch.cat([state, actor(state)], 1)).mean()
    opt_a.zero_grad(); value.backward(); opt_a.step()
"""
    assert not {"L220", "D120"} & set(found(watch(tmp_path, text, steps=40, probe_seconds=0.3)))
