"""Maps of classes of which one stands for places without a label, against maps that are labelled everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.absent_class import AbsentClass
from tests.frameworks.watching import found, watch

SCRIPT = """
import torch, torch.nn as nn
torch.manual_seed(0)
colours = torch.randn(4, 3)
def maps(count):
    kinds = torch.randint(0, 3, (count, 4, 4)).repeat_interleave(4, 1).repeat_interleave(4, 2) + 1
    return colours[kinds].permute(0, 3, 1, 2) + 0.1 * torch.randn(count, 3, 16, 16), kinds
x, full = maps(120)
seen = torch.rand(120, 4, 4).repeat_interleave(4, 1).repeat_interleave(4, 2) < 0.4
y = torch.where(seen, full, 0)
other, truth = maps(40)
net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 4, 1))
criterion = nn.CrossEntropyLoss(OPTIONS)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for epoch in range(6):
    for rows in torch.randperm(120).split(12):
        loss = criterion(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
net.eval()
with torch.no_grad():
    guess = net(other).argmax(1)
print(COMPARED)
"""
WHOLE = "(guess == truth).float().mean()"


@pytest.mark.parametrize(("options", "compared", "wrong"), [
    ("", WHOLE, True), ("ignore_index=0", WHOLE, False),
    ("weight=torch.tensor([1e-3, 1, 1, 1])", WHOLE, False),  # it is hardly answered with
    # What is picked out says nothing of the rest.
    ("", "(guess[truth > 0] == truth[truth > 0]).float().mean()", False),
    # The evaluation's maps have as many places without a label.
    ("", "(guess == truth * (torch.rand(truth.shape) < 0.6)).float().mean()", False)])
def test_a_class_that_is_right_nowhere_is_told(tmp_path: Path, options: str, compared: str, wrong: bool) -> None:
    seen = watch(tmp_path, SCRIPT.replace("OPTIONS", options).replace("COMPARED", compared), steps=60)
    assert found(seen) == (["E532"] if wrong else [])
    if wrong:
        finding = AbsentClass().check(seen)
        assert finding is not None
        assert finding.site is not None
        assert "Class 0" in finding.message
        assert finding.site.line == SCRIPT.splitlines().index("criterion = nn.CrossEntropyLoss(OPTIONS)") + 1
