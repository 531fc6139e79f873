"""Masked language models whose labels are taken before the masking, and after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import aliases
from tests.frameworks.watching import HEAD, found, watch

TEXT = HEAD + """
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel
small = dict(vocab_size=24)
bert = BertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, **small)
gpt = GPT2Config(n_embd=16, n_layer=1, n_head=2, **small)
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(24, 16), nn.Linear(16, 24)
    def forward(self, input_ids, labels):
        x = self.table(input_ids)
        return nn.Module(), F.cross_entropy(self.out(x + x.mean(1, keepdim=True)).flatten(0, 1), labels.flatten())
model = MODEL
texts = torch.randint(2, 24, (400, 12))
def collate(rows):
    ids = torch.stack(rows)
    LABELS
    asked = torch.rand(ids.shape) < 0.2
    ids[asked] = 1
    labels = labels.clone() if MASKED else ids
    labels = torch.where(asked, labels, -100)
    return {"input_ids": ids, "labels": labels}
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for batch in DataLoader(list(texts), batch_size=16, collate_fn=collate):
        optimizer.zero_grad()
        made = model(**batch)
        loss = made[1] if isinstance(made, tuple) else made.loss
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("model", "labels", "masked", "fault"), [
    ("BertForMaskedLM(bert)", "labels = ids", "True", True), ("BertForMaskedLM(bert)", "labels = ids.clone()", "True", False),
    ("BertForMaskedLM(bert)", "labels = None", "False", True), ("Own()", "labels = ids", "True", True),
    ("Own()", "labels = ids.clone()", "True", False), ("GPT2LMHeadModel(gpt)", "labels = ids", "True", False)])
def test_labels(tmp_path: Path, model: str, labels: str, masked: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TEXT.replace("MODEL", model).replace("LABELS", labels).replace("MASKED", masked), steps=30, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert ("D111" in found(seen)) == fault, seen.batches
    if fault and labels == "labels = ids":
        assert seen.sites["aliased"].source == labels


@pytest.mark.parametrize(("text", "line"), [
    ("a = b\na[m] = 1", 1), ("x = 0\na = b\nb[m] = 1", 2), ("a = b.copy()\na[m] = 1", None), ("a[m] = 1\na = b", None),
    ("def f(s):\n    labels = s['ids']\n    s['ids'][m] = 1", 2), ("a = b\na.masked_fill_(m, 1)", 1), ("a = b\nc[m] = 1", None),
    ("b = a.clone()\na.masked_fill(m, 1)", 2), ("a = a.masked_fill(m, 1)", None)])
def test_where_it_is_written(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    assert aliases.written(script) == (None if line is None else (str(script), line, "<module>"))


@pytest.mark.parametrize(("model", "kept", "fault"), [
    ("BertForMaskedLM(bert)", "labels", True), ("BertForMaskedLM(bert)", "torch.where(asked, labels, -100)", False),
    ("GPT2LMHeadModel(gpt)", "labels", False)])
def test_labels_of_tokens_in_sight(tmp_path: Path, model: str, kept: str, *, fault: bool) -> None:
    text = TEXT.replace("MODEL", model).replace("LABELS", "labels = ids.clone()").replace("MASKED", "True").replace(
        "torch.where(asked, labels, -100)", kept)
    seen = watch(tmp_path, text, steps=30, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("L211" in found(seen)) == fault, seen.batches
