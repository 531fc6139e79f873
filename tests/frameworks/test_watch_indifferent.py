"""Losses that are written out for labels of -1 and 1, and get 0 and 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, found, watch

MARGIN = HEAD + """
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
weight = torch.rand(320) > 0.5
for epoch in range(4):
    for rows in torch.randperm(320).split(16):
        s, t = model(X[rows]).squeeze(-1), y[rows]
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


BY_HAND = MARGIN.replace("model(X[rows]).squeeze(-1)", "X[rows] @ w + b").replace("optimizer = ", """
w, b = torch.zeros(10, requires_grad=True), torch.zeros(1, requires_grad=True)
model = None
optimizer = """, 1)


@pytest.mark.parametrize(("loss", "fault"), [
    ("torch.clamp(1 - t.float() * s, min=0).mean()", True),
    ("F.softplus(-t.float() * s).mean()", True),
    ("(F.relu(1 - s * t) ** 2).mean()", True),
    ("torch.clamp(1 - (2 * t.float() - 1) * s, min=0).mean()", False),
    ("F.softplus((1 - 2 * t.float()) * s).mean()", False),
    ("(t * F.softplus(-s) + (1 - t) * F.softplus(s)).mean()", False),
    ("(weight[rows].float() * F.softplus((1 - 2 * t.float()) * s)).mean()", False),  # rows that are left out
    ("F.binary_cross_entropy_with_logits(s, t.float())", False)])
def test_margins(tmp_path: Path, loss: str, *, fault: bool) -> None:
    seen = watch(tmp_path, MARGIN.replace("LOSS", loss))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert found(seen) == (["L201"] if fault else [])
    if fault:
        assert seen.probes.indifferent is not None
        assert seen.probes.indifferent.site is not None
        assert seen.probes.indifferent.site.source.startswith("loss =")


@pytest.mark.parametrize(("loss", "fault"), [("torch.clamp(1 - t.float() * s, min=0).mean() + 1e-4 * w.pow(2).sum()", True),
                                             ("torch.clamp(1 - (2 * t.float() - 1) * s, min=0).mean()", False),
                                             ("(F.softplus(s) - t * s).mean()", False)])
def test_without_a_model(tmp_path: Path, loss: str, *, fault: bool) -> None:
    seen = watch(tmp_path, BY_HAND.replace("model.parameters()", "[w, b]").replace("LOSS", loss))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert found(seen) == (["L201"] if fault else [])
