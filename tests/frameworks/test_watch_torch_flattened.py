"""Answers and targets that are flattened in one order, and in two."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

TEXT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
ids = torch.randint(0, 20, (480, 12))
tags = torch.randint(0, 5, (20,))[ids]
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(20, 16), nn.GRU(16, 24, batch_first=FIRST), nn.Linear(24, 5)
    def forward(self, x):
        return self.head(self.rnn(EMBEDDED)[0])
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    for rows in torch.randperm(480).split(16):
        out, wanted = model(ids[rows]), tags[rows]
        loss = F.cross_entropy(out.reshape(-1, 5), TARGET.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("first", "target", "fault"), [
    (False, "wanted", True), (False, "wanted.T", False), (True, "wanted", False), (True, "wanted.T", True)])
def test_the_order_of_tokens(tmp_path: Path, first: bool, target: str, fault: bool) -> None:
    embedded = "self.embed(x)" if first else "self.embed(x).transpose(0, 1)"
    seen = watch(tmp_path, TEXT.replace("FIRST", str(first)).replace("EMBEDDED", embedded).replace("TARGET", target))
    assert found(seen) == (["L222"] if fault else [])
    if fault:
        assert seen.flattened is not None
        assert seen.flattened.site is not None
        assert "cross_entropy" in seen.flattened.site.source


def test_labels_that_tokens_do_not_tell(tmp_path: Path) -> None:
    text = TEXT.replace("FIRST", "False").replace("EMBEDDED", "self.embed(x).transpose(0, 1)").replace("TARGET", "wanted")
    seen = watch(tmp_path, text.replace("tags = torch.randint(0, 5, (20,))[ids]", "tags = torch.randint(0, 5, (480, 12))"))
    assert "L222" not in found(seen)
