"""Metrics over the tokens of language models: answers held against the token at their place, and against the one that follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

HEAD = """
import numpy as np
import tempfile
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
set_seed(0)
V, T = 20, 12
ids = torch.zeros(360, T, dtype=torch.long)
ids[:, 0] = torch.randint(0, V, (360,))
for t in range(1, T):
    ids[:, t] = (3 * ids[:, t - 1] + 1) % V
model = GPT2LMHeadModel(GPT2Config(vocab_size=V, n_positions=T, n_embd=32, n_layer=1, n_head=2))
"""
TRAINER = HEAD + """
rows = [{"input_ids": row, "labels": row.clone()} for row in ids]
def compute_metrics(given):
    logits, labels = given
    MOVED
    return {"right": float((logits.argmax(-1) == labels).mean())}
arguments = TrainingArguments(tempfile.mkdtemp(), max_steps=40, learning_rate=1e-2, per_device_train_batch_size=16, report_to="none",
                              save_strategy="no", use_cpu=True, logging_steps=1000, disable_tqdm=True)
trainer = Trainer(model, arguments, train_dataset=rows[:300], eval_dataset=rows[300:], compute_metrics=compute_metrics)
trainer.train()
trainer.evaluate()
"""
LOOP = HEAD + """
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
for epoch in range(3):
    model.train()
    for b in ids[:300].split(20):
        loss = model(input_ids=b, labels=b).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = 0
        for b in ids[300:].split(20):
            answers = model(input_ids=b).logits.argmax(-1)
            right += (COMPARED).float().mean().item()
    print(right / 3)
"""


@pytest.mark.parametrize(("moved", "fault"), [("pass", True), ("logits, labels = logits[:, :-1], labels[:, 1:]", False)])
def test_compute_metrics_of_a_trainer(tmp_path: Path, moved: str, *, fault: bool) -> None:
    pytest.importorskip("accelerate")
    seen = watch(tmp_path, TRAINER.replace("MOVED", moved), steps=40)
    assert seen.evaluation.alignment is not None
    assert (found(seen) == ["E506"]) is fault, found(seen)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == "def compute_metrics(given):"
        assert "one place on" in finding.evidence[1]


@pytest.mark.parametrize(("compared", "fault"), [("answers == b", True), ("answers[:, :-1] == b[:, 1:]", False)])
def test_a_comparison_in_a_loop(tmp_path: Path, compared: str, *, fault: bool) -> None:
    seen = watch(tmp_path, LOOP.replace("COMPARED", compared), steps=45)
    assert (found(seen) == ["E506"]) is fault, found(seen)
