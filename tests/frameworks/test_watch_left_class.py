"""Losses that leave a class out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, found, watch

ROWS = """
y = (X[:, 0] > 0.5).long() + (X[:, 0] > -0.5).long()
train = DataLoader(TensorDataset(X[:320], y[:320]), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, CLASSES))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(OPTIONS)
for epoch in range(3):
    for xb, yb in train:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb + SHIFT)
        loss.backward()
        optimizer.step()
"""
TOKENS = """
ids = torch.randint(1, 12, (320, 8))
tags = ids % 3 + 1
ids[:, 5:], tags[:, 5:] = 0, 0
model = nn.Sequential(nn.Embedding(12, 16), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=0)
for epoch in range(3):
    for rows in torch.randperm(320).split(16):
        optimizer.zero_grad()
        loss = criterion(model(ids[rows]).view(-1, 4), tags[rows].view(-1))
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("options", "classes", "shift", "fault"), [
    ("ignore_index=0", 3, 0, True), ("", 3, 0, False), ("ignore_index=-1", 3, 0, False),
    ("ignore_index=0", 4, 1, False)])  # a class that no row has
def test_a_class_of_rows(tmp_path: Path, options: str, classes: int, shift: int, *, fault: bool) -> None:
    text = ROWS.replace("OPTIONS", options).replace("CLASSES", str(classes)).replace("SHIFT", str(shift))
    seen = watch(tmp_path, HEAD + text)
    assert (found(seen) == ["L221"]) is fault, found(seen)
    if fault:
        assert seen.sites["criterion"].source == "criterion = nn.CrossEntropyLoss(ignore_index=0)"


def test_the_padding_of_tokens(tmp_path: Path) -> None:
    assert "L221" not in found(watch(tmp_path, HEAD + TOKENS))
