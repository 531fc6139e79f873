"""Texts that a script keeps as lists of words, and cuts to a length when it makes ids of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

TEXT = """
import random
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset
random.seed(0)
torch.manual_seed(0)
common, kinds = [f"w{i}" for i in range(40)], ["refund", "login", "parcel"]
def thread():
    kind = random.randrange(3)
    return random.choices(common, k=random.randint(20, 40)) + [kinds[kind], "please"], kind
items = [thread() for _ in range(600)]
index = {word: i for i, word in enumerate(["<pad>", *common, *kinds, "please"])}
class Threads(Dataset):
    def __init__(self, items):
        self.rows = [(torch.tensor([index[word] for word in words]CUT), kind) for words, kind in items]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, number):
        return self.rows[number]
def collate(batch):
    return pad_sequence([ids for ids, _ in batch], batch_first=True), torch.tensor([kind for _, kind in batch])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.EmbeddingBag(len(index), 16, mode="sum", padding_idx=0), nn.Linear(16, 3)
    def forward(self, ids):
        return self.head(self.table(ids))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(4):
    for ids, kinds_ in DataLoader(Threads(items), batch_size=20, shuffle=True, collate_fn=collate):
        loss = nn.functional.cross_entropy(model(ids), kinds_)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("cut", "fault"), [("[:16]", True), ("[-16:]", False), ("", False)])
def test_words_that_are_cut_off(tmp_path: Path, cut: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TEXT.replace("CUT", cut), steps=60, probe_seconds=1.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("D113" in found(seen)) is fault, seen.probes.whole
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "D113")
        assert told is not None
        assert "lose their end" in told.message
