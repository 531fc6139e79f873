"""Class ids that are kept as bytes, inputs of another scale in a regression, and the largest scores of another array."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

MANY = """
import numpy as np
import torch, torch.nn as nn
torch.manual_seed(0)
rng = np.random.default_rng(0)
answers = rng.integers(0, 400, 4096).astype(TYPE)
wanted, x = torch.from_numpy(answers).long(), torch.randn(4096, 12)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 400))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for rows in torch.randperm(4096).split(64):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x[rows]), wanted[rows]).backward()
    optimizer.step()
"""
WIDE = """
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(960, 5)
y = 3 * torch.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3] + 20
seconds = 1.7e9 + 1e7 * torch.rand(960, 1)
x = torch.cat([x, seconds], 1)
CHANGE
model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), 2e-3)
for epoch in range(3):
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        nn.functional.smooth_l1_loss(model(xb), yb).backward()
        optimizer.step()
"""
TWO = """
import tempfile
import numpy as np
import torch, torch.nn as nn
from transformers import Trainer, TrainingArguments
torch.manual_seed(0)
x = torch.randn(480, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
rows = [{"values": a, "labels": b} for a, b in zip(x, y)]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, 3)
    def forward(self, values, labels=None):
        hidden = torch.relu(self.body(values))
        logits = self.head(hidden)
        return {"loss": nn.functional.cross_entropy(logits, labels), "hidden": hidden, "logits": logits}
def compute_metrics(given):
    return {"accuracy": float((given.predictions[PLACE].argmax(-1) == given.label_ids).mean())}
arguments = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=12, per_device_train_batch_size=16, learning_rate=1e-2,
                              report_to="none", save_strategy="no", use_cpu=True, disable_tqdm=True)
trainer = Trainer(Net(), arguments, train_dataset=rows[:400], eval_dataset=rows[400:], compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
"""


@pytest.mark.parametrize(("kind", "fault"), [('"uint8"', True), ('"int64"', False)])
def test_ids_that_begin_again(tmp_path: Path, kind: str, *, fault: bool) -> None:
    seen = watch(tmp_path, MANY.replace("TYPE", kind))
    assert ("L202" in found(seen)) is fault, found(seen)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.code == "L202")
        assert finding is not None
        assert finding.site is not None
        assert "uint8" in finding.site.source


@pytest.mark.parametrize(("change", "fault"), [("", True), ("x = (x - x.mean(0)) / x.std(0)", False)])
def test_a_loss_that_falls_from_millions_and_learns_nothing(tmp_path: Path, change: str, *, fault: bool) -> None:
    seen = watch(tmp_path, WIDE.replace("CHANGE", change))
    assert (found(seen) == ["D108"]) is fault, (found(seen), seen.probes.train_standardised)


@pytest.mark.parametrize(("place", "fault"), [("0", True), ("1", False)])
def test_one_of_several_arrays(tmp_path: Path, place: str, *, fault: bool) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, TWO.replace("PLACE", place))
    assert (found(seen) == ["E501"]) is fault, (found(seen), seen.evaluation.metrics)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "(80, 16)" in finding.message
        assert "(80, 3)" in finding.message
