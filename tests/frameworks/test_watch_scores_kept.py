"""What a Trainer keeps of an evaluation, beside what its metric takes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import watch

pytest.importorskip("torch")

CLASSES, ROWS, LENGTH = 2000, 800, 12
TAGGER = f"""
import tempfile
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed
set_seed(0)
rows = [{{"input_ids": ids, "labels": ids}} for ids in torch.randint(3, 40, ({ROWS}, {LENGTH}))]
model = BertForTokenClassification(BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                                              intermediate_size=64, max_position_embeddings={LENGTH}, num_labels={CLASSES}))
def compute_metrics(given):
    scores, labels = given
    return {{"value": float(VALUE)}}
arguments = TrainingArguments(tempfile.mkdtemp(), max_steps=6, learning_rate=1e-3, per_device_train_batch_size=16, report_to="none",
                              per_device_eval_batch_size=100, save_strategy="no", use_cpu=True, logging_steps=1000, disable_tqdm=True)
trainer = Trainer(model, arguments, train_dataset=rows[:96], eval_dataset=rows, compute_metrics=compute_metrics KEPT)
trainer.train()
trainer.evaluate()
"""


@pytest.mark.parametrize(("value", "kept", "needless"), [
    ("(scores.argmax(-1) == labels).mean()", "", True),
    ("(scores == labels).mean()", ", preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1)", False),
    # The scores themselves are what is measured.
    ("scores.max(-1).mean()", "", False),
    ("torch.tensor(scores).topk(5).indices.eq(torch.tensor(labels)[..., None]).float().mean()", "", False)])
def test_scores_that_a_metric_takes_the_largest_of(tmp_path: Path, value: str, kept: str, *, needless: bool) -> None:
    pytest.importorskip("accelerate")
    seen = watch(tmp_path, TAGGER.replace("VALUE", value).replace("KEPT", kept), steps=6, seconds=60)
    assert not seen.warnings
    assert seen.evaluation.metrics
    assert seen.memory.scores_kept == (4 * ROWS * LENGTH * CLASSES if needless else 0)
