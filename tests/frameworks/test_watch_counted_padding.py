"""Metrics over tokens of which some are left out of the loss: whether the script's own counts these."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.metric_facts import MetricFacts, RightFacts
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

TAGGER = """
import numpy as np
import tempfile
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed
set_seed(0)
rng = np.random.default_rng(0)
rows = []
for _ in range(360):
    words = rng.integers(3, 40, rng.integers(4, 10)).tolist()
    gap = 12 - len(words) - 2
    rows.append({"input_ids": [1, *words, 2] + [0] * gap, "attention_mask": [1] * (len(words) + 2) + [0] * gap,
                 "labels": [-100] + [word % 3 for word in words] + [-100] * (gap + 1)})
rows = [{name: torch.tensor(value) for name, value in row.items()} for row in rows]
model = BertForTokenClassification(BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                                              intermediate_size=64, max_position_embeddings=12, num_labels=3))
def compute_metrics(given):
    logits, labels = given
    answers = logits.argmax(-1)
    real = labels != -100
    return {"NAME": VALUE, "tokens": int(real.sum())}
arguments = TrainingArguments(tempfile.mkdtemp(), max_steps=40, learning_rate=1e-2, per_device_train_batch_size=16, report_to="none",
                              save_strategy="no", use_cpu=True, logging_steps=1000, disable_tqdm=True)
trainer = Trainer(model, arguments, train_dataset=rows[:300], eval_dataset=rows[300:], compute_metrics=compute_metrics)
trainer.train()
trainer.evaluate()
"""


@pytest.mark.parametrize(("name", "value", "fault"), [
    ("accuracy", "float((answers == labels).mean())", True),
    ("f1", "float(((answers == labels) & (labels > 0)).sum() / max(1, (answers > 0).sum()))", True),
    ("accuracy", "float((answers[real] == labels[real]).mean())", False),
    ("accuracy", "float(((answers == labels) & real).sum() / real.sum())", False),
    # By rows, and of rows as wholes.
    ("accuracy", "float(np.mean([(a[r] == l[r]).mean() for a, l, r in zip(answers, labels, real)]))", False),
    ("exact_match", "float(((answers == labels) | ~real).all(1).mean())", False),
    # No share of answers that are right.
    ("confidence", "float(logits.max(-1).mean())", False)])
def test_compute_metrics(tmp_path: Path, name: str, value: str, *, fault: bool) -> None:
    pytest.importorskip("accelerate")
    seen = watch(tmp_path, TAGGER.replace("NAME", name).replace("VALUE", value), steps=40, seconds=60)
    assert seen.evaluation.metrics[-1].longer, seen.warnings
    assert (found(seen) == ["E513"]) is fault, (found(seen), seen.evaluation.metrics[-1])
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source.startswith('return {"')


@pytest.mark.parametrize(("full", "counted"), [(0.65, True), (1.0, False), (0.4, False)])
def test_a_model_that_is_hardly_ever_right(full: float, *, counted: bool) -> None:
    """It says almost the same of longer rows; a model that is always right reaches the share of the places with a label, no more."""
    seen = healthy()
    right = RightFacts(values={"accuracy": full}, shuffled={"accuracy": full}, classes=4, present=4, places=65, shape=[20, 5, 4])
    seen.evaluation.metrics = [MetricFacts(name="compute_metrics", values={"accuracy": 0.01}, longer={"accuracy": 0.005}, left_out=0.35,
                                           right=right)]
    assert judge("E513", seen) == ("found" if counted else "clean")
    if counted:
        assert "0.65" in finding("E513", seen).evidence[0]
