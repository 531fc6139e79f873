"""Masks of padding that attention layers of PyTorch are given the wrong way round."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

SCRIPT = """
import torch, torch.nn as nn
torch.manual_seed(0)
ids = torch.randint(2, 20, (240, 16))
lengths = torch.randint(4, 16, (240,))
ids[torch.arange(16)[None] >= lengths[:, None]] = 0
labels = (ids == 7).any(1).float()
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 1, enable_nested_tensor=False)
        self.head = nn.Linear(16, 1)
    def forward(self, ids):
        mask = ids MARK 0
        steps = self.encoder(self.table(ids), src_key_padding_mask=mask)
        return self.head(steps[:, 0]).squeeze(1)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(2):
    for rows in torch.randperm(240).split(24):
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("mark", "wrong"), [("!=", True), ("==", False)])
def test_which_way_round(tmp_path: Path, mark: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, SCRIPT.replace("MARK", mark), probe_seconds=0.5)
    assert (seen.inverted is not None) is wrong, seen.warnings
    assert ("B102" in found(seen)) is wrong
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "B102")
        assert told is not None
        assert told.site is not None
        assert "mask = ids != 0" in told.site.source
