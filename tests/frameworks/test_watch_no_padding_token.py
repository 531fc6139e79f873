"""Tokenizers and models that know no padding token, and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("transformers")

SCRIPT = """
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2ForSequenceClassification, PreTrainedTokenizerFast
torch.manual_seed(0)
raw = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "a": 2, "b": 3}, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]"TOKENIZER)
texts, labels = ["a b a", "b"] * 32, torch.tensor([0, 1] * 32)
config = GPT2Config(vocab_size=4, n_positions=8, n_embd=16, n_layer=1, n_head=2, num_labels=2, eos_token_id=None, bos_token_id=NoneCONFIG)
model = GPT2ForSequenceClassification(config)
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(12):
    batch = tokenizer(texts[:8], padding=True, return_tensors="pt")
    loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels[:8]).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TOKENIZER, CONFIG = ', pad_token="[PAD]"', ", pad_token_id=1"


@pytest.mark.parametrize(("tokenizer", "config", "line"), [
    ("", CONFIG, "padding=True"), (TOKENIZER, "", "model = GPT2"), (TOKENIZER, CONFIG, None)])
def test_a_loop(tmp_path: Path, tokenizer: str, config: str, line: str | None) -> None:
    seen = watch(tmp_path, SCRIPT.replace("TOKENIZER", tokenizer).replace("CONFIG", config), steps=20, probe_seconds=0.5)
    assert found(seen)[:1] == (["B104"] if line is not None else []), seen.exception
    if line is not None:
        told = next(result.finding for result in walk(seen) if result.code == "B104")
        assert told is not None
        assert told.site is not None
        assert line in told.site.source
