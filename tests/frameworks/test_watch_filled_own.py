"""Language models and losses of a script's own: what fills the rows up is wanted, or left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

TEXT = """
import torch, torch.nn as nn
torch.manual_seed(0)
VOCAB, LONGEST = 17, LONG
def row():
    size = int(torch.randint(3, 9, (1,)))
    return torch.cat([torch.tensor([1]), torch.arange(size) % 14 + 3, torch.tensor([2]), torch.zeros(LONGEST - size, dtype=torch.long)])
rows = torch.stack([row() for _ in range(256)])
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(VOCAB, 16), nn.GRU(16, 32, batch_first=True), nn.Linear(32, VOCAB)
    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])
model = Model()
criterion = nn.CrossEntropyLoss(OPTIONS)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(4):
    for batch in torch.utils.data.DataLoader(rows, batch_size=32, shuffle=True):
        loss = criterion(model(batch[:, :-1]).reshape(-1, VOCAB), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("options", "long", "fault"), [
    ("", 40, True), ("ignore_index=0", 40, False), ("weight=torch.tensor([0.0] + [1.0] * 16)", 40, False), ("", 8, False)])
def test_a_filler_that_is_wanted(tmp_path: Path, options: str, long: int, *, fault: bool) -> None:
    seen = watch(tmp_path, TEXT.replace("OPTIONS", options).replace("= 17, LONG\n", f"= 17, {long}\n"))
    assert ("L214" in found(seen)) == fault, (seen.loss_calls[0].asked, seen.loss_calls[0].filler)
