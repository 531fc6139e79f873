"""Masks that training has and an evaluation lacks, where the script pads its rows by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

PADDED = """
import torch
from transformers import BertConfig, BertForSequenceClassification, set_seed
set_seed(0)
gen = torch.Generator().manual_seed(0)
rows = [torch.randint(3, 30, (int(n),), generator=gen).tolist() for n in torch.randint(4, 12, (400,), generator=gen)]
labels = [int(row[0] > 15) for row in rows]
def pad(rows, length):
    ids = torch.tensor([row + [0] * (length - len(row)) for row in rows])
    return ids, (ids != 0).long()
model = BertForSequenceClassification(BertConfig(vocab_size=30, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                                                 intermediate_size=64, max_position_embeddings=32, num_labels=2))
optimizer = torch.optim.AdamW(model.parameters(), 5e-3)
for epoch in range(4):
    model.train()
    for at in range(0, 320, 16):
        ids, mask = pad(rows[at:at + 16], max(len(row) for row in rows[at:at + 16]))
        loss = model(input_ids=ids, attention_mask=mask, labels=torch.tensor(labels[at:at + 16])).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    for at in range(320, 400, 20):
        ids, mask = pad(rows[at:at + 20], LENGTH)
        answers = model(input_ids=idsMASK).logits.argmax(-1)
"""


@pytest.mark.parametrize(("length", "mask", "fault"), [
    ("32", "", True), ("32", ", attention_mask=mask", False), ("12", "[:, :4]", False)])  # the last: no row has any padding
def test_rows_that_a_script_pads(tmp_path: Path, length: str, mask: str, *, fault: bool) -> None:
    seen = watch(tmp_path, PADDED.replace("LENGTH", length).replace("MASK", mask), steps=60, seconds=60)
    assert (found(seen) == ["B102"]) is fault, (found(seen), seen.asked)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source.startswith("answers = model(")
