"""Variational autoencoders whose divergence weighs a few times what the bound has it: an experiment says whether the code falls silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

SCRIPT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
rows = SIZE * torch.randn(640, 2) @ torch.randn(2, 24)
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 6))
        self.decoder = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 24))
    def forward(self, x):
        mean, log_var = self.encoder(x).chunk(2, dim=1)
        return self.decoder(mean + torch.randn_like(mean) * (0.5 * log_var).exp()), mean, log_var
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=5e-3)
for epoch in range(4):
    for xb in rows[torch.randperm(640)].split(32):
        output, mean, log_var = vae(xb)
        kl = -0.5 * (1 + log_var - mean ** 2 - log_var.exp())
        loss = F.mse_loss(output, xb) + WEIGHT * kl.sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("size", "weight", "silent"), [(0.3, 3, True), (4.0, 3, False), (0.3, 0.1, False)])
def test_a_code_that_says_nothing(tmp_path: Path, size: float, weight: float, *, silent: bool) -> None:
    text = SCRIPT.replace("SIZE", str(size)).replace("WEIGHT", f"({weight} / 24)")
    seen = watch(tmp_path, text, steps=60, probe_seconds=6.0)
    assert seen.divergence[-1].weight == pytest.approx(weight, rel=0.02)
    assert ("L207" in found(seen)) is silent, found(seen)
    assert (seen.probes.term_beside is not None) is silent
