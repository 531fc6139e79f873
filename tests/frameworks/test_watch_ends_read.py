"""Filler at the ends of rows that answers are made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch import ends_read
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch


@pytest.mark.parametrize(("given", "answers", "same", "moved"), [
    (np.arange(8), lambda rows, width: rows.sum(1), 0.0, 0.0),
    (np.arange(8), lambda rows, width: rows.sum(1) / width, 0.0, 0.5),
    (np.arange(8), lambda rows, width: rows[:, 9] + 0.5, 0.5, None)])  # of ten steps and no fewer
def test_what_is_measured(given: np.ndarray, answers: Callable[..., Any], same: float, moved: float | None) -> None:
    rows = np.where(np.arange(20)[None, :] < (given + 5)[:, None], np.arange(1, 21)[None, :] + given[:, None], 0)
    facts = ends_read.measure(rows, lambda width: answers(rows[:, :width], width) if moved is not None or width == 20 else None)
    assert facts is not None
    assert (facts.rows, facts.width, facts.longest) == (8, 20, 12)
    assert facts.same == pytest.approx(0.625 if same else 0.0)
    assert (facts.moved is None) if moved is None else (facts.moved is not None and (facts.moved > 0.3) is bool(moved))


TORCH = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
torch.manual_seed(0)
rows = []
for _ in range(320):
    label = int(torch.randint(0, 2, ()))
    length = min(5 + int(-12 * torch.log(torch.rand(()))), LONGEST)
    rows.append((torch.where(torch.rand(length) < 0.3 + 0.4 * label, 1, 2), label))
def collate(batch):
    width = WIDTH
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    for place, (row, _) in enumerate(batch):
        ids[place, :len(row)] = row
    return ids, torch.tensor([label for _, label in batch])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.over, self.head = nn.Embedding(3, 8, padding_idx=0), nn.Conv1d(8, 16, 3), nn.Linear(16, 2)
    def forward(self, ids):
        h = self.table(ids).transpose(1, 2)
        h = F.relu(self.over(F.pad(h, (2, 0)))).transpose(1, 2)
        real = (ids != 0).float().unsqueeze(-1)
        lengths = (ids != 0).sum(1)
        pooled = POOLED
        return self.head(pooled)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(2):
    for ids, labels in DataLoader(rows, batch_size=16, shuffle=True, collate_fn=collate):
        loss = F.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
LAST, OWN = "h[:, -1]", "h[torch.arange(len(h)), lengths - 1]"


@pytest.mark.parametrize(("pooled", "width", "longest", "fault"), [
    ("h.mean(1)", "max(len(row) for row, _ in batch)", 60, "depends on how long"), (LAST, "24", 24, "very same answer"),
    ("h.mean(1)", "24", 24, ""), ("h.mean(1)", "max(len(row) for row, _ in batch)", 8, ""), (OWN, "24", 24, ""),
    ("(h * real).sum(1) / real.sum(1)", "max(len(row) for row, _ in batch)", 60, "")])
def test_a_convolution(tmp_path: Path, pooled: str, width: str, longest: int, fault: str) -> None:
    text = TORCH.replace("POOLED", pooled).replace("WIDTH", width).replace("LONGEST", str(longest))
    seen = watch(tmp_path, text, steps=30)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert seen.probes.ends_read is not None or longest == 8
    assert ("B102" in found(seen)) is bool(fault), seen.probes.ends_read
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "B102")
        assert told is not None
        assert fault in told.message
        assert told.site is not None
        assert pooled in told.site.source


@pytest.mark.parametrize(("pooled", "fault"), [("h.mean(1)", True), ("(h * real).sum(1) / real.sum(1)", False)])
def test_a_mask_that_a_model_of_the_scripts_own_is_given(tmp_path: Path, pooled: str, *, fault: bool) -> None:
    """That it is given one says nothing of what becomes of it."""
    text = TORCH.replace("POOLED", pooled).replace("WIDTH", "max(len(row) for row, _ in batch)").replace("LONGEST", "60")
    text = text.replace("def forward(self, ids):", "def forward(self, ids, attention_mask):").replace(
        "real = (ids != 0).float().unsqueeze(-1)", "real = attention_mask.float().unsqueeze(-1)").replace(
        "model(ids)", "model(ids, attention_mask=(ids != 0).long())")
    seen = watch(tmp_path, text, steps=30)
    assert seen.probes.ends_read is not None
    assert ("B102" in found(seen)) is fault, seen.probes.ends_read


KERAS = """
rows = [rng.choice([1, 2], p=(0.3 + 0.4 * label, 0.7 - 0.4 * label), size=rng.integers(5, 60)) for label in wanted]
steps = np.stack([np.pad(row, (0, 60 - len(row))) for row in rows]).astype("float32")[:, :, None]
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.over = keras.layers.Conv1D(16, 3, padding="causal", activation="relu")
        self.head = keras.layers.Dense(2)
    def call(self, steps):
        states = self.over(steps)
        return self.head(READ)
model = Net()
model.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(steps, wanted, batch_size=32, epochs=3, verbose=0)
"""


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("read", "fault"), [
    ("states[:, -1]", True), ("tf.gather(states, tf.reduce_sum(tf.cast(steps[:, :, 0] > 0, tf.int32), 1) - 1, batch_dims=1)", False)])
def test_the_last_step_of_rows(tmp_path: Path, name: str, read: str, *, fault: bool) -> None:
    drawn = "rng = np.random.default_rng(0)\nwanted = rng.integers(0, 2, 640)\n"
    seen = test_watch_keras.watch(tmp_path, test_watch_keras.HEAD.replace("NAME", name) + drawn + KERAS.replace("READ", read))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("B102" in found(seen)) is fault, seen.probes.ends_read
