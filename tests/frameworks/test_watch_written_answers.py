"""Texts that an encoder-decoder writes, and where they are cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

T5 = """
import torch
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration
torch.manual_seed(0)
model = T5ForConditionalGeneration(T5Config(vocab_size=40, d_model=32, d_kv=16, d_ff=32, num_layers=1, num_decoder_layers=1, num_heads=2,
                                            dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1))
asked = torch.randint(2, 40, (64, 6))
wanted = torch.cat([asked[:, :1].expand(64, LENGTH), torch.ones(64, 1, dtype=torch.long), torch.full((64, 3), -100)], 1)
"""
LOOP = """
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    rows = torch.randperm(64)[:16]
    loss = model(input_ids=asked[rows], labels=wanted[rows]).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    answers = model.generate(asked[:32]MORE)
"""
TRAINER = """
rows = [{"input_ids": a.tolist(), "labels": w.tolist()} for a, w in zip(asked, wanted)]
args = Seq2SeqTrainingArguments("out", max_steps=30, per_device_train_batch_size=16, learning_rate=1e-2, report_to="none",
                                save_strategy="no", use_cpu=True, disable_tqdm=True,
                                predict_with_generate=True,
                                MORE)
trainer = Seq2SeqTrainer(model, args, train_dataset=rows, eval_dataset=rows[:32],
                         compute_metrics=lambda given: {"rows": len(given.predictions)})
trainer.train()
print(trainer.evaluate())
"""


@pytest.mark.parametrize(("length", "more", "cut"), [
    (30, "", True), (30, ", max_new_tokens=12", True), (30, ", max_new_tokens=40", False), (12, "", False)])
def test_answers_of_a_loop(tmp_path: Path, length: int, more: str, *, cut: bool) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, T5.replace("LENGTH", str(length)) + LOOP.replace("MORE", more), steps=40, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    facts = seen.evaluation.written
    assert facts is not None, seen.warnings
    assert (facts.answers, facts.longest, facts.told) == (32, length + 1, bool(more))
    assert ("E518" in found(seen)) is cut, facts


@pytest.mark.parametrize(("more", "cut"), [("", True), ("generation_max_length=40", False)])
def test_answers_of_a_trainer(tmp_path: Path, more: str, *, cut: bool) -> None:
    pytest.importorskip("accelerate")
    seen = watch(tmp_path, T5.replace("LENGTH", "30") + TRAINER.replace("MORE", more), steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("E518" in found(seen)) is cut, seen.evaluation.written
    place = seen.sites["training_arguments.predict_with_generate"]
    assert place.source == "predict_with_generate=True,"
