"""Words of several texts in one column, beside the number of the text that each belongs to: what of such a batch reaches the output."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

BAGS = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
bags = [(torch.randint(0, 20, (5,)), torch.randn(2)) for _ in range(320)]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(20, 8), nn.Linear(10, 2)
    def forward(self, batch):
        sums = torch.zeros(len(batch["numbers"]), 8).index_add(0, batch["owner"], self.words(batch["words"]))
        READ
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for chosen in torch.randperm(320).split(32):
        some = [bags[number] for number in chosen]
        batch = {"words": torch.cat([words for words, _ in some]), "owner": torch.arange(32).repeat_interleave(5),
                 "numbers": torch.stack([numbers for _, numbers in some])}
        optimizer.zero_grad()
        F.cross_entropy(model(batch), (batch["words"].view(32, 5).sum(1) > 47).long()).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("read", "fault"), [
    ('return self.head(torch.cat([sums, batch["numbers"]], 1))', False), ("return self.head(0 * torch.cat([sums, sums[:, :2]], 1))", True)])
def test_words_that_are_moved_with_the_numbers_of_their_texts(tmp_path: Path, read: str, *, fault: bool) -> None:
    seen = watch(tmp_path, BAGS.replace("READ", read))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("F104" in found(seen)) is fault, seen.probes.input_matters
