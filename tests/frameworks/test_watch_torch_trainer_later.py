"""A second Trainer, whose optimizer was made before the model had its last head."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

TWICE = """
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, get_constant_schedule
torch.manual_seed(0)
def rows(number, kinds):
    labels = torch.randint(0, kinds, (number,)).tolist()
    return [{"input_ids": [1] + [2 + 4 * label + k % 4 for k in range(7)], "attention_mask": [1] * 8, "labels": label} for label in labels]
def arguments():
    return TrainingArguments(output_dir="out", num_train_epochs=1, per_device_train_batch_size=8, learning_rate=5e-3, save_strategy="no",
                             report_to=[], disable_tqdm=True, use_cpu=True)
model = BertForSequenceClassification(BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                                 intermediate_size=32, max_position_embeddings=16, num_labels=3))
Trainer(model, arguments(), train_dataset=rows(400, 3)).train()
FIRST
SECOND
model.config.num_labels = model.num_labels = 6
Trainer(model, arguments(), train_dataset=rows(200, 6), optimizers=(optimizer, get_constant_schedule(optimizer))).train()
"""
MADE, HEAD = "optimizer = torch.optim.AdamW(model.parameters(), 1e-3)", "model.classifier = torch.nn.Linear(16, 6)"


@pytest.mark.parametrize(("first", "second", "wrong"), [(MADE, HEAD, True), (HEAD, MADE, False)])
def test_a_head_after_the_optimizer(tmp_path: Path, first: str, second: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TWICE.replace("FIRST", first).replace("SECOND", second))
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("S405" in found(seen)) is wrong, seen.later
