"""Labels of an encoder-decoder whose padding has the padding's own id."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

TEXT = """
import torch
from transformers import T5Config, T5ForConditionalGeneration
torch.manual_seed(0)
config = T5Config(vocab_size=24, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, pad_token_id=0, eos_token_id=1,
                  decoder_start_token_id=0)
model = T5ForConditionalGeneration(config)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
def rows():
    ids = torch.randint(2, 24, (16, 12))
    labels = torch.full((16, 12), FILL)
    for row, length in enumerate(torch.randint(LENGTHS, (16,)).tolist()):
        labels[row, :length], labels[row, length] = ids[row, :length], 1
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}
for step in range(24):
    optimizer.zero_grad()
    model(**rows()).loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("fill", "lengths", "fault"), [("0", "2, 7", True), ("-100", "2, 7", False), ("0", "9, 12", False)])
def test_the_fill(tmp_path: Path, fill: str, lengths: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    text = TEXT.replace("FILL", fill).replace("LENGTHS", lengths)
    seen = watch(tmp_path, text, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L214" in found(seen)) is fault, [batch.filled_targets for batch in seen.batches]
