"""Frozen matrices of zeros: what they multiply is lost, and what they are added to is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, LOOP, found, watch

pytest.importorskip("torch")

LAYER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(10, 32), nn.Linear(32, 2)
        self.part = PART
        nn.init.zeros_(WEIGHT)
        WEIGHT.requires_grad_(False)
    def forward(self, x):
        return self.b(torch.relu(USED))
model = Net()
optimizer = torch.optim.Adam((weight for weight in model.parameters() if weight.requires_grad), lr=1e-2)
"""


@pytest.mark.parametrize(("part", "weight", "used", "wrong"), [
    ("nn.Linear(10, 10, bias=False)", "self.part.weight", "self.a(self.part(x))", True),
    ("nn.Embedding(4, 32)", "self.part.weight", "self.a(x) + self.part(torch.zeros(len(x), dtype=torch.long))", False),
    ("nn.Parameter(torch.ones(1, 32))", "self.part", "self.a(x) + self.part", False)])
def test_what_zeros_do(tmp_path: Path, part: str, weight: str, used: str, *, wrong: bool) -> None:
    text = HEAD + LAYER.replace("PART", part).replace("WEIGHT", weight).replace("USED", used) + LOOP
    seen = watch(tmp_path, text, probe_seconds=1)
    assert seen.exception is None
    assert ("G303" in found(seen)) is wrong, found(seen)
