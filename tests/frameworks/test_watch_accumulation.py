"""Steps over several batches, whose losses were to be divided by their number."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

DIGITS = """
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train = DataLoader(TensorDataset(X, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.5)
criterion = nn.CrossEntropyLoss()
for epoch in range(EPOCHS):
    for number, (xb, yb) in enumerate(train):
        loss = criterion(model(xb), yb)
        BACKWARD
        if number % 16 == 15:
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.mark.parametrize(("backward", "rate", "fault"), [
    ("loss.backward()", 0.6, True), ("(loss / 16).backward()", 0.6, False),
    # Added up on purpose, at a rate that goes with it.
    ("loss.backward()", 0.05, False)])
def test_loops(tmp_path: Path, backward: str, rate: float, *, fault: bool) -> None:
    text = DIGITS.replace("BACKWARD", backward).replace("RATE", str(rate)).replace("EPOCHS", "6")
    seen = watch(tmp_path, text, steps=60, seconds=60)
    assert not seen.warnings
    assert found(seen) == (["L208"] if fault else []), seen.probes
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "16 batches" in finding.message
        assert finding.site is not None
        assert finding.site.source == "loss.backward()"


def test_two_terms_of_one_batch_are_no_batches(tmp_path: Path) -> None:
    text = DIGITS.replace("BACKWARD", "loss.backward(retain_graph=True); criterion(model(xb), yb).backward()").replace(
        "number % 16 == 15", "True").replace("RATE", "3.0").replace("EPOCHS", "1")
    seen = watch(tmp_path, text, steps=40, seconds=60)
    assert seen.steps[0].backwards == 2
    assert seen.probes.undivided == 0
    assert "L208" not in found(seen)


FOLD = """
import tempfile
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed
set_seed(0)
X, y = load_digits(return_X_y=True)
rows = [{"x": torch.tensor(x / 16, dtype=torch.float32), "labels": torch.tensor(t)} for x, t in zip(X, y)]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    def forward(self, x, labels=None):
        logits = self.body(x)
        return {"logits": logits} | ({"loss": F.cross_entropy(logits, labels)} if labels is not None else {})
def per_batch(outputs, labels, num_items_in_batch=None):
    return LOSS
arguments = TrainingArguments(tempfile.mkdtemp(), max_steps=60, learning_rate=0.6, per_device_train_batch_size=8, report_to="none",
                              gradient_accumulation_steps=16, optim="sgd", save_strategy="no", use_cpu=True, logging_steps=1000,
                              max_grad_norm=0.0, lr_scheduler_type="constant", disable_tqdm=True)
Trainer(Net(), arguments, train_dataset=rowsGIVEN).train()
"""


@pytest.mark.parametrize(("loss", "given", "fault"), [
    ("F.cross_entropy(outputs['logits'], labels)", ", compute_loss_func=per_batch", True),
    ("F.cross_entropy(outputs['logits'], labels, reduction='sum') / num_items_in_batch", ", compute_loss_func=per_batch", False),
    ("None", "", False)])
def test_trainers(tmp_path: Path, loss: str, given: str, *, fault: bool) -> None:
    pytest.importorskip("accelerate")
    text = FOLD.replace("LOSS", loss).replace("rowsGIVEN", f"rows{given}")
    seen = watch(tmp_path, text, steps=60, seconds=60)
    assert found(seen) == (["L208"] if fault else []), seen.probes
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "num_items_in_batch" in finding.remedy
        assert finding.site is not None
        assert finding.site.source.startswith("return F.cross_entropy")
