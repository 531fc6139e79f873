"""Labels that are not the last part of their batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

SCRIPT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
lengths = torch.arange(640) // 16 % 8 + 3
X = torch.randn(640, 10) * (torch.arange(10) < lengths[:, None])
y = (X[:, 0] + X[:, 1] > 0).long()
train = DataLoader(TensorDataset(PARTS), batch_size=16)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(10, 32)
        self.b = nn.Linear(32, 2)
    def forward(self, x, lengths):
        return self.b(torch.relu(self.a(x * (torch.arange(10) < lengths[:, None]))))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for NAMES in train:
    optimizer.zero_grad()
    out = model(x, n)
    loss = LOSS
    loss.backward()
    optimizer.step()
"""
CROSS, SQUARE = "F.cross_entropy(out, y)", "((out[:, 0] - y.float()) ** 2).mean()"


@pytest.mark.parametrize(("names", "loss"), [("x, y, n", CROSS), ("x, y, n", SQUARE), ("n, y, x", CROSS), ("x, n, y", CROSS)])
def test_the_labels_are_what_the_loss_is_given(tmp_path: Path, names: str, loss: str) -> None:
    parts = names.replace("x", "X").replace("n", "lengths")
    seen = watch(tmp_path, SCRIPT.replace("PARTS", parts).replace("NAMES", names).replace("LOSS", loss))
    assert all(set(batch.labels or ()) == {0, 1} for batch in seen.batches)
    assert set(seen.loaders[0].label_counts) == {"0", "1"}
    assert not {"D107", "L201"} & set(found(seen))


def test_weights_behind_the_labels(tmp_path: Path) -> None:
    text = SCRIPT.replace("PARTS", "X, lengths, y, torch.ones(640, dtype=torch.long)").replace("NAMES", "x, n, y, w")
    seen = watch(tmp_path, text.replace("LOSS", "(F.cross_entropy(out, y, reduction='none') * w).mean()"))
    assert all(set(batch.labels or ()) == {0, 1} for batch in seen.batches)
    assert "D104" not in found(seen)


SWALLOWED = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader
torch.manual_seed(0)
x = torch.randn(320, 6)
rows = [{"x": row, "KEY": (row[0] > 0).long()} for row in x]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(6, 2)
    def forward(self, x, labels=None, **rest):
        READ
        loss = 1e-3 * self.out.weight.pow(2).mean()
        return {"loss": loss if labels is None else loss + F.cross_entropy(self.out(x), labels), "logits": self.out(x)}
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for batch in DataLoader(rows, batch_size=16):
        out = model(**batch)
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("key", "read", "loss", "wrong"), [
    ("label", "pass", 'out["loss"]', True), ("labels", "pass", 'out["loss"]', False),
    ("label", 'labels = rest.get("label", labels)', 'out["loss"]', False),
    ("label", "pass", 'F.cross_entropy(out["logits"], batch["label"])', False)])
def test_labels_that_a_model_swallows(tmp_path: Path, key: str, read: str, loss: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, SWALLOWED.replace("KEY", key).replace("READ", read).replace("LOSS", loss))
    assert ("D102" in found(seen)) is wrong, (found(seen), seen.loss_calls[:1])
