"""Mixup: rows that are mixed while their targets are not, by a script's text and by how much its rows vary."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import blends
from tests.frameworks.watching import found, watch

TEXT = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(800, 16)
y = (x[:, 0] > 0).long()
x, y, xv, yv = x[:600], y[:600], x[600:], y[600:]
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    model.train()
    for rows in torch.randperm(600).split(30):
        w, order = torch.rand(30, 1), torch.randperm(30)
        xb, yb = x[rows], y[rows]
        out = model(MIXED)
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print((model(xv).argmax(1) == yv).float().mean().item())
"""
MIXED = "w * xb + (1 - w) * xb[order]"
BOTH = "(w[:, 0] * F.cross_entropy(out, yb, reduction='none') + (1 - w[:, 0]) * F.cross_entropy(out, yb[order], reduction='none')).mean()"


@pytest.mark.parametrize(("mixed", "loss", "codes"), [
    (MIXED, "F.cross_entropy(out, yb)", ["D106"]), (MIXED, BOTH, []), ("xb", "F.cross_entropy(out, yb)", [])])
def test_a_loop(tmp_path: Path, mixed: str, loss: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TEXT.replace("MIXED", mixed).replace("LOSS", loss), steps=60)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert found(seen) == codes


@pytest.mark.parametrize(("text", "line"), [
    ("def mix(x, y):\n    o = f()\n    return lam * x + (1 - lam) * tf.gather(x, o), y", 3),
    ("def mix(x, y):\n    o = f()\n    return x * lam + x[o] * (1.0 - lam), y", 3),
    ("def mix(x, y):\n    o = f()\n    return lam * x + (1 - lam) * x[o], y, y[o]", None),
    ("def mix(x, y):\n    o = f()\n    return lam * x + (1 - lam) * x[o], o, lam", None),  # who called may mix the targets
    ("def mix(x, y):\n    o = f()\n    return x + 0.1 * x[o], y", None),  # noise of other rows
    ("def mix(x, y):\n    o = f()\n    return lam[:, None] * x + (1 - lam[:, None]) * x[o], y", 3),  # a share for each row
    ("def mix(x, y):\n    o = f()\n    return lam.view(-1, 1) * x + (1 - lam.view(-1, 1)) * x[o], y", 3),
    ("average = decay * average + (1 - decay) * value", None),
    ("def outer():\n    o = f()\n    def mix(x, y):\n        return lam * x + (1 - lam) * x[o], y\n    return mix, o", 4),
])
def test_the_text(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    found_at = blends.alone(script)
    assert (found_at[1] if found_at is not None else None) == line
