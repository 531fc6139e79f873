"""Two towers that are asked in a pass of the data each."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

TEXT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
a = torch.randn(400, 8)
b = a @ torch.randn(8, 6) + 0.1 * torch.randn(400, 6)
train = DataLoader(TensorDataset(a[:300], b[:300]), batch_size=30, shuffle=True)
test = DataLoader(TensorDataset(a[300:], b[300:]), batch_size=25, shuffle=SHUFFLE)
one, two = nn.Linear(8, 16), nn.Linear(6, 16)
optimizer = torch.optim.Adam([*one.parameters(), *two.parameters()], lr=1e-2)
for _ in range(3):
    for left, right in train:
        scores = 5 * F.normalize(one(left), dim=1) @ F.normalize(two(right), dim=1).T
        loss = F.cross_entropy(scores, torch.arange(len(left)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    ASKED
"""
TWO = """questions = torch.cat([F.normalize(one(left), dim=1) for left, _ in test])
    answers = torch.cat([F.normalize(two(right), dim=1) for _, right in test])
    scores = questions @ answers.T
    """
ONE = """both = [(one(left), two(right)) for left, right in test]
    questions, answers = (torch.cat(part) for part in zip(*both))
    scores = questions @ answers.T
    """
OWN, NEAREST = "print((scores.argmax(1) == torch.arange(100)).float().mean())", "print(scores.max(1).values.mean())"


@pytest.mark.parametrize(("asked", "shuffle", "fault"), [
    (TWO + OWN, "True", True), (TWO + OWN, "False", False), (ONE + OWN, "True", False), (TWO + NEAREST, "True", False)])
def test_rows_that_belong_together(tmp_path: Path, asked: str, shuffle: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TEXT.replace("ASKED", asked).replace("SHUFFLE", shuffle), steps=40, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E505" in found(seen)) is fault, seen.evaluation.passes
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "E505")
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith("test = DataLoader")
