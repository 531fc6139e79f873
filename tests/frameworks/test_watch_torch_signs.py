"""Losses whose targets are 1 and -1; columns that a `forward` asks for by name and a Trainer has dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, found, watch

pytest.importorskip("torch")

PAIRS = HEAD + """
net = nn.Linear(10, 8)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for epoch in range(3):
    for at in range(0, 320, 16):
        left, right = X[at:at + 16], X[at:at + 16].flip(0)
        same = (y[at:at + 16] == y[at:at + 16].flip(0)).float()
        loss = F.cosine_embedding_loss(net(left), net(right), TARGET, margin=0.2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
COLUMNS = """
import tempfile
import torch
import torch.nn as nn
from datasets import Dataset
from transformers import Trainer, TrainingArguments, set_seed
set_seed(0)
x, facts = torch.randn(320, 4), torch.randn(320, 2)
rows = Dataset.from_dict({"x": x.tolist(), "facts": facts.tolist(), "labels": (x[:, 0] + facts[:, 0]).tolist()})
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(6, 1)
    def forward(self, x, labels=None, PARAMETERS):
        more = MORE
        scores = self.line(torch.cat([x, more], 1)).squeeze(1)
        return {"loss": nn.functional.mse_loss(scores, labels), "logits": scores}
arguments = TrainingArguments(tempfile.mkdtemp(), max_steps=30, learning_rate=1e-2, per_device_train_batch_size=16, report_to="none",
                              save_strategy="no", use_cpu=True, logging_steps=1000, disable_tqdm=TrueKEPT)
Trainer(Net(), arguments, train_dataset=rows).train()
"""


@pytest.mark.parametrize(("target", "fault"), [("same", True), ("2 * same - 1", False)])
def test_targets_of_pairs(tmp_path: Path, target: str, *, fault: bool) -> None:
    seen = watch(tmp_path, PAIRS.replace("TARGET", target), seconds=60)
    assert (found(seen)[:1] == ["L201"]) is fault, found(seen)


@pytest.mark.parametrize(("parameters", "more", "kept", "fault"), [
    ("**extra", 'extra.get("facts", x.new_zeros(len(x), 2))', "", True), ("facts=None, **extra", "facts", "", False),
    ("**extra", 'extra.get("facts", x.new_zeros(len(x), 2))', ", remove_unused_columns=False", False),
    ("**extra", "x.new_zeros(len(x), 2)", "", False)])
def test_a_column_among_anything_else(tmp_path: Path, parameters: str, more: str, kept: str, *, fault: bool) -> None:
    pytest.importorskip("accelerate")
    text = COLUMNS.replace("PARAMETERS", parameters).replace("MORE", more).replace("KEPT", kept)
    seen = watch(tmp_path, text, steps=30, seconds=60)
    assert (found(seen)[:1] == ["D101"]) is fault, found(seen)


WEIGHED = """
import tempfile
import torch
import torch.nn as nn
from datasets import Dataset
from transformers import Trainer, TrainingArguments, default_data_collator, set_seed
set_seed(0)
x = torch.randn(320, 4)
rows = Dataset.from_dict({"x": x.tolist(), "trust": torch.rand(320).tolist(), "labels": x[:, 0].tolist()})
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 1)
    def forward(self, x, labels=None):
        scores = self.line(x).squeeze(1)
        return {"loss": nn.functional.mse_loss(scores, labels), "logits": scores}
def collate(rows):
    COLLATED
    return default_data_collator(rows)
class Weighing(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        TAKEN
        outputs = model(**inputs)
        loss = ((outputs["logits"] - inputs["labels"]) ** 2 * (1 if trust is None else trust)).mean()
        return (loss, outputs) if return_outputs else loss
arguments = TrainingArguments(tempfile.mkdtemp(), max_steps=30, learning_rate=1e-2, per_device_train_batch_size=16, report_to="none",
                              save_strategy="no", use_cpu=True, logging_steps=1000, disable_tqdm=TrueKEPT)
Weighing(Net(), arguments, train_dataset=rows, data_collator=collate).train()
"""


@pytest.mark.parametrize(("taken", "collated", "kept", "by"), [
    ('trust = inputs.pop("trust", None)', "pass", "", "compute_loss"),
    ('trust = inputs.pop("trust", None)', "pass", ", remove_unused_columns=False", None),
    ('trust = inputs.pop("trust") if "trust" in inputs else None', "pass", "", "compute_loss"),
    # Rid of a column, in case it is there.
    ('inputs.pop("trust", None); trust = None', "pass", "", None),
    ("trust = None", 'kept = [row.get("trust") for row in rows]', "", "collate")])
def test_a_column_that_is_taken_where_it_is_there(tmp_path: Path, taken: str, collated: str, kept: str, by: str | None) -> None:
    pytest.importorskip("accelerate")
    text = WEIGHED.replace("TAKEN", taken).replace("COLLATED", collated).replace("KEPT", kept)
    seen = watch(tmp_path, text, steps=30, seconds=60)
    assert (found(seen)[:1] == ["D101"]) is (by is not None), found(seen)
    if by is not None:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert f"{by}() asks for `trust`" in finding.message
        assert finding.site is not None
        assert finding.site.source.startswith("arguments = TrainingArguments")
