"""A tokenizer beside the checkpoint that is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import vocabularies
from harness.paths import ROOT
from tests.frameworks.watching import found, watch

pytest.importorskip("transformers")

MINI = ROOT / "assets" / "distilbert-mini"
SCRIPT = f"""
import torch
from pathlib import Path
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, BertTokenizerFast
torch.manual_seed(0)
def own(folder):
    words = (Path("{MINI}") / "vocab.txt").read_text().split("\\n")
    Path(folder, "vocab.txt").write_text("\\n".join(words[:5] + sorted(words[5:], key=lambda word: word[::-1])))
    return BertTokenizerFast.from_pretrained(folder)
tokenizer = MADE
model = LOADED
texts = ["a man is in the garden", "nobody sleeps"] * 8
batch = tokenizer(texts, padding=True, return_tensors="pt")
labels = torch.tensor([0, 1] * 8)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(4):
    loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOADED = f'AutoModelForSequenceClassification.from_pretrained("{MINI}", num_labels=2)'
FRESH = f'AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained("{MINI}", num_labels=2, vocab_size=2000))'


@pytest.mark.parametrize(("made", "loaded", "wrong"), [
    ("own('FOLDER')", LOADED, True), (f"AutoTokenizer.from_pretrained('{MINI}')", LOADED, False), ("own('FOLDER')", FRESH, False)])
def test_ids_of_another_tokenizer(tmp_path: Path, made: str, loaded: str, *, wrong: bool) -> None:
    script = SCRIPT.replace("MADE", made.replace("FOLDER", str(tmp_path))).replace("LOADED", loaded)
    seen = watch(tmp_path, script, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert (found(seen)[:1] == ["D110"]) is wrong, (seen.vocabulary, seen.warnings)
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.code == "D110")
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source.startswith("tokenizer = own(")


def test_what_stands_beside_a_checkpoint(tmp_path: Path) -> None:
    known = vocabularies.vocabulary(str(MINI))
    assert known["[PAD]"] == 0
    assert len(known) > 500
    assert vocabularies.vocabulary(str(tmp_path)) == {}
    assert vocabularies.vocabulary("nobody/has-such-a-model") == {}
