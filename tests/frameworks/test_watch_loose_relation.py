"""Evaluations whose rows no loader brings: what the script compares tells what is left of what was learnt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

TEXT = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
wanted = torch.randint(0, 3, (900,))
pixels = 0.5 + 0.08 * torch.randn(900, 6, 6)
pixels[:, 0] += 0.15 * (wanted[:, None] - 1)
net = nn.Sequential(nn.Flatten(), nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
train, mean, std = pixels[:500], pixels[:500].mean(), pixels[:500].std()
x = (train - mean) / std
for epoch in range(4):
    for rows in torch.randperm(500).split(25):
        loss = F.cross_entropy(net(x[rows]), wanted[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
@torch.inference_mode()
def predict(rows):
    net.eval()
    given = SCALED
    return torch.cat([net(part).argmax(1) for part in given.split(100)])
answers = predict(pixels[500:])
print((answers == wanted[500:]).float().mean(), [(answers[wanted[500:] == k] == k).float().mean() for k in range(3)])
"""


@pytest.mark.parametrize(("scaled", "fault"), [("(rows - std) / mean", True), ("(rows - mean) / std", False)])
def test_numbers_of_the_training_in_each_others_place(tmp_path: Path, scaled: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TEXT.replace("SCALED", scaled), steps=60, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    loose = seen.evaluation.loose_relation
    assert loose is not None
    assert loose.rows == 400
    assert (loose.held < 0.6) is fault
    assert ("E508" in found(seen)) is fault, (loose, seen.evaluation.scale)
