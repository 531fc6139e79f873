"""A label for each token of a row: rows that a recurrent layer mixes, and time that comes first on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_torch_rows import first
from tests.frameworks.watching import watch

pytest.importorskip("torch")

TAGGER = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randint(0, 12, (480, 9))
y = (X + X.roll(1, 1)) % 3  # of a token and the one before it
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 16)
        self.rnn = nn.GRU(16, 32, batch_first=FIRST)
        self.head = nn.Linear(32, 3)
    def forward(self, ids):
        return self.head(self.rnn(self.embedding(ids))[0])
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for ids, tags in DataLoader(TensorDataset(X, y), batch_size=24, shuffle=True, collate_fn=COLLATE):
        loss = F.cross_entropy(model(ids).reshape(-1, 3), tags.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
TIME_FIRST = "lambda rows: tuple(torch.stack(part, 1) for part in zip(*rows))"


def test_a_layer_that_wants_the_batch_second(tmp_path: Path) -> None:
    found = first(watch(tmp_path, TAGGER.replace("FIRST", "False").replace("COLLATE", "None")))
    assert found is not None
    code, finding = found
    assert code == "F105"
    assert finding.site is not None
    assert "nn.GRU" in finding.site.source


@pytest.mark.parametrize(("batch_first", "collate"), [("True", "None"), ("False", TIME_FIRST)])
def test_axes_that_fit(tmp_path: Path, batch_first: str, collate: str) -> None:
    found = first(watch(tmp_path, TAGGER.replace("FIRST", batch_first).replace("COLLATE", collate)))
    assert found is None or found[0] != "F105"


LOST = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.cat([torch.zeros(480, 1), torch.randn(480, 6)], 1)
y = (X[:, 1] > 0).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(1, 16), nn.Linear(16, 2)
    def forward(self, x):
        states = torch.relu(self.body(x[..., None]))
        pooled = states[:, 0]
        return self.head(pooled)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for a, b in DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True):
        loss = F.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_where_the_input_is_lost(tmp_path: Path) -> None:
    found = first(watch(tmp_path, LOST))
    assert found is not None
    code, finding = found
    assert code == "F104"
    assert finding.site is not None
    assert finding.site.source == "pooled = states[:, 0]"
