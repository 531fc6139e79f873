"""Padding that has labels like text, in batches of PyTorch and under a model of transformers."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.data_facts import BatchFacts
from harness.checks.loss_facts import LossCall
from harness.checks.tensor_facts import Site, TensorFacts
from harness.frameworks.watch import fills
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch

DATA = """
import random
random.seed(0)
rows = []
for _ in range(192):
    length = random.choice([6, 8, 20])
    ids = [random.randrange(1, 20) for _ in range(length)]
    rows.append((ids, [FIRST + (number > 12) + (number > 16) for number in ids]))
def batches(rows):
    for start in range(0, len(rows), 16):
        part = rows[start:start + 16]
        longest = max(len(ids) for ids, _ in part)
        yield ([ids + [0] * (longest - len(ids)) for ids, _ in part], [[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in part],
               [tags + [FILL] * (longest - len(ids)) for ids, tags in part])
"""
TORCH = DATA + """
import torch
import torch.nn.functional as F
from transformers import BertConfig, BertForTokenClassification
torch.manual_seed(0)
model = BertForTokenClassification(BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                              intermediate_size=32, num_labels=4))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(3):
    for ids, mask, tags in batches(rows):
        ids, mask, tags = (torch.tensor(part) for part in (ids, mask, tags))
        optimizer.zero_grad()
        LOSS
        loss.backward()
        optimizer.step()
"""
MASKED = """each = F.cross_entropy(model(input_ids=ids, attention_mask=mask).logits.transpose(1, 2), tags, reduction="none")
        loss = (each * mask).sum() / mask.sum()"""
OWN = "loss = model(input_ids=ids, attention_mask=mask, labels=tags).loss"


@pytest.mark.parametrize(("first", "fill", "loss", "wrong"), [
    ("0", "0", OWN, True), ("0", "-100", OWN, False),
    ("1", "0", OWN, False),  # a class of its own
    ("0", "0", MASKED, False)])
def test_torch(tmp_path: Path, first: str, fill: str, loss: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("FIRST", first).replace("FILL", fill).replace("LOSS", loss))
    assert seen.exception is None
    assert ("L214" in found(seen)) is wrong, found(seen)
    if wrong:
        result = next(result.finding for result in walk(seen) if result.code == "L214")
        assert result is not None
        assert "label 0" in result.message


COLLATED = """
import random
import tempfile
from transformers import (BertConfig, BertForTokenClassification, BertTokenizer, DataCollatorForTokenClassification, Trainer,
                          TrainingArguments, set_seed)
set_seed(0)
folder = tempfile.mkdtemp()
with open(folder + "/vocab.txt", "w") as file:
    file.write("\\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(20))]))
tokenizer = BertTokenizer(folder + "/vocab.txt")
rows = []
for _ in range(192):
    ids = [random.randrange(5, 25) for _ in range(random.choice([6, 8, 20]))]
    rows.append({"input_ids": ids, "labels": [(number > 12) + (number > 16) for number in ids]})
model = BertForTokenClassification(BertConfig(vocab_size=25, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                              intermediate_size=32, num_labels=4))
collator = DataCollatorForTokenClassification(
    tokenizer,
    padding="longest",
    label_pad_token_id=FILL,
)
arguments = TrainingArguments(folder, max_steps=20, per_device_train_batch_size=16, report_to="none", use_cpu=True, save_strategy="no",
                              learning_rate=3e-3, logging_steps=100, disable_tqdm=True)
Trainer(model, arguments, train_dataset=rows, data_collator=collator).train()
"""


@pytest.mark.parametrize(("fill", "wrong"), [("0", True), ("-100", False)])
def test_what_a_collator_is_told_to_fill_with(tmp_path: Path, fill: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    seen = watch(tmp_path, COLLATED.replace("FILL", fill))
    assert seen.exception is None
    assert ("L214" in found(seen)) is wrong, found(seen)
    if wrong:
        result = next(result.finding for result in walk(seen) if result.code == "L214")
        assert result is not None
        assert result.site is not None
        assert result.site.source == "label_pad_token_id=0,"


def tagged(filled: int = 40, **more: object) -> BatchFacts:
    return BatchFacts(token_labels=100, filled_labels=filled, filled_label=0 if filled else None, **more)


def call(**more: object) -> LossCall:
    return LossCall(**{"name": "cross_entropy", "target": TensorFacts(shape=(100,), dtype="int64"), "reduction": "mean",
                       "ignore_index": -100, **more})


def test_what_the_loss_leaves_out_or_weighs_is_no_fault() -> None:
    seen = healthy()
    seen.batches, seen.loss_calls = [tagged(), tagged()], [call()]
    assert "40% of the tokens" in finding("L214", seen).message
    for other in (call(ignore_index=0), call(weighted=True), call(reduction="none"), call(name="mse")):
        seen.loss_calls = [other]
        assert judge("L214", seen) == "clean"
    seen.loss_calls = [call()]
    for filled in (0, 10):
        seen.batches = [tagged(filled), tagged(filled)]
        assert judge("L214", seen) == "clean"
    seen.batches = [BatchFacts()]
    assert "no batch" in judge("L214", seen)


def test_a_model_of_keras_may_have_a_mask() -> None:
    seen = healthy()
    seen.framework, seen.batches = "tf_keras", [tagged(), tagged()]
    seen.loss_calls = [call(name="sparse_categorical", reduction="none", ignore_index=None)]
    assert seen.model is not None
    seen.model.kind = "TFBertForTokenClassification"
    assert judge("L214", seen) == "found"
    # A line of the script that has a number for each token may go on to leave some of them out.
    asked = Site(file="train.py", line=3, source="ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=safe, logits=logits)")
    seen.loss_calls[0].site = asked
    assert judge("L214", seen) == "clean"
    seen.loss_calls[0].site = None
    seen.model.kind = "Functional"
    assert judge("L214", seen) == "clean"


@pytest.mark.parametrize(("body", "line"), [
    ("if word is None:\n        labels.append(0)\n    else:\n        labels.append(tags[word])", 3),
    ("if word is None:\n        labels.append(0)\n    if word is None:\n        labels.append(1)", None),
    ("if word == 3:\n        labels.append(0)", None), ("if word is None:\n        names.append(0)", None)])
def test_where_what_is_no_word_gets_a_label(tmp_path: Path, body: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"for word in words:\n    {body}\n")
    place = fills.of_no_word(script)
    assert (place[1] if place else None) == line
