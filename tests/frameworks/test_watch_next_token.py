"""Language models under watch: targets beside the ids that were given, and answers that owe to later ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

HEAD = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
V, T = 30, 16
follow = torch.randint(0, V, (V, 3))
ids = [torch.randint(0, V, (320,))]
for _ in range(T):
    ids.append(follow[ids[-1], torch.randint(0, 3, (320,))])
data = torch.stack(ids, 1)
"""
LOOP = """
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for epoch in range(3):
    for first in range(0, 320, 32):
        b = data[first:first + 32]
        logits = CALLED
        loss = COMPARED
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
TRANSFORMER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(V, 32), nn.Embedding(T + 1, 32)
        self.encode = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 2, 64, 0.1, batch_first=True), 1)
        self.head = nn.Linear(32, V)
    def forward(self, x):
        h = self.embed(x) + self.place(torch.arange(x.shape[1]))
        return self.head(self.encode(h, mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1])))
model = Model()
"""
RECURRENT = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.read, self.head = nn.Embedding(V, 32), nn.GRU(32, 32), nn.Linear(32, V)
    def forward(self, x):
        return self.head(self.read(self.embed(x))[0])
model = Model()
"""
AUTOENCODER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.sum, self.place = nn.Embedding(V, 32), nn.Linear(32, 32), nn.Embedding(T + 1, 32)
        self.head = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, V))
    def forward(self, x):
        row = self.sum(self.embed(x).mean(1))
        return self.head(row[:, None] + self.place(torch.arange(T)) + self.embed(x[:, :-1]))
model = Model()
"""
COPYING = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.read, self.write, self.head = nn.Embedding(V, 32), nn.GRU(32, 32), nn.GRU(32, 32), nn.Linear(32, V)
    def forward(self, source, target):
        state = self.read(self.embed(source).transpose(0, 1))[1]
        return self.head(self.write(self.embed(target).transpose(0, 1), state)[0]).transpose(0, 1)
model = Model()
"""
STARTED = TRANSFORMER.replace("h = self.embed(x)", "h = torch.cat([torch.zeros(len(x), 1, 32), self.embed(x)[:, :-1]], 1)")
DECODER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.read, self.cell, self.head = nn.Embedding(V, 32), nn.GRU(32, 32), nn.GRUCell(32, 32), nn.Linear(32, V)
    def forward(self, source, target):
        state, made = self.read(self.embed(source).transpose(0, 1))[1][0], [torch.zeros(len(source), V)]
        for place in range(1, target.shape[1]):
            state = self.cell(self.embed(target[:, place - 1]), state)
            made.append(self.head(state))
        return torch.stack(made, 1)
model = Model()
"""
SHIFTED = ("model(b[:, :-1])", "F.cross_entropy(logits.reshape(-1, V), b[:, 1:].reshape(-1))")
AT_ONCE = ("model(b[:, :-1])", "F.cross_entropy(logits.reshape(-1, V), b[:, :-1].reshape(-1))")
TURNED = ("model(b.t()[:-1])", "F.cross_entropy(logits.reshape(-1, V), b.t()[1:].reshape(-1))")
TURNED_AT_ONCE = ("model(b.t())", "F.cross_entropy(logits.reshape(-1, V), b.t().reshape(-1))")
UNMASKED = (", mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1])", "")


def run_with(folder: Path, model: str, called: str, compared: str):
    return watch(folder, HEAD + model + LOOP.replace("CALLED", called).replace("COMPARED", compared), seconds=60)


@pytest.mark.parametrize(("model", "loop", "offset", "fault"), [
    (TRANSFORMER, SHIFTED, 1, False),
    (TRANSFORMER, ("model(b)[:, 3:-1]", "F.cross_entropy(logits.transpose(1, 2), b[:, 4:])"), 1, False),
    (TRANSFORMER, AT_ONCE, 0, True),
    (TRANSFORMER, ("model(b[:, :-2])", "F.cross_entropy(logits.reshape(-1, V), b[:, 2:].reshape(-1))"), 2, True),
    (TRANSFORMER.replace(*UNMASKED), SHIFTED, 1, True), (TRANSFORMER.replace(*UNMASKED), AT_ONCE, 0, False),
    (RECURRENT, TURNED, 1, False), (RECURRENT, TURNED_AT_ONCE, 0, True),
    (AUTOENCODER, ("model(b)", "F.cross_entropy(logits.transpose(1, 2), b[:, 1:])"), 1, False),
    (STARTED, ("model(b)", "F.cross_entropy(logits.reshape(-1, V), b.reshape(-1))"), 0, False),
    (DECODER, ("model(b.flip(1), b)", "F.cross_entropy(logits[:, 1:].reshape(-1, V), b[:, 1:].reshape(-1))"), 0, False),
    (COPYING, ("model(b, b[:, :-1])", "F.cross_entropy(logits.reshape(-1, V), b[:, 1:].reshape(-1))"), 1, False)],
    ids=["shifted", "scores cut", "not shifted", "twice", "no mask", "an autoencoder by token", "rows second", "rows second, not shifted",
         "a text autoencoder", "a token in front", "a decoder", "a copying task"])
def test_what_each_position_is_asked_for(tmp_path: Path, model: str, loop: tuple[str, str], offset: int, *, fault: bool) -> None:
    seen = run_with(tmp_path, model, *loop)
    assert seen.exception is None
    assert seen.probes.shift is not None, seen.warnings
    assert seen.probes.shift.offset == offset
    assert (found(seen)[:1] == ["L211"]) is fault, (found(seen), seen.probes.shift)


def test_where_it_is_said(tmp_path: Path) -> None:
    seen = run_with(tmp_path, TRANSFORMER, *AT_ONCE)
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert finding.site is not None
    assert finding.site.source == f"loss = {AT_ONCE[1]}"
    assert "very token" in finding.message


def test_where_later_tokens_get_in(tmp_path: Path) -> None:
    seen = run_with(tmp_path, TRANSFORMER.replace(*UNMASKED), *SHIFTED)
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert finding.site is not None
    assert finding.site.source == "return self.head(self.encode(h))"


TRAINED = HEAD + """
from torch.utils.data import Dataset
from transformers import CONFIG, MODEL, Trainer, TrainingArguments
class Texts(Dataset):
    def __len__(self):
        return 320
    def __getitem__(self, number):
        ids = data[number]
        labels = LABELS
        return {"input_ids": ids, "labels": labels}
model = MODEL(CONFIG(vocab_size=V, EXTRA))
Trainer(model, TrainingArguments("out", max_steps=30, per_device_train_batch_size=16, report_to="none", learning_rate=1e-3, use_cpu=True,
                                 disable_tqdm=True, save_strategy="no"), train_dataset=Texts()).train()
"""
GPT = ("GPT2Config", "GPT2LMHeadModel", "n_embd=32, n_layer=1, n_head=2, n_positions=32")
BERT = ("BertConfig", "BertLMHeadModel", "hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64")
MASKED = ("BertConfig", "BertForMaskedLM", BERT[2])


@pytest.mark.parametrize(("kind", "labels", "fault"), [
    (GPT, "ids.clone()", False), (GPT, "torch.cat([ids[1:], torch.tensor([-100])])", True),
    # Texts of one form, with the same tokens in the middle of every row.
    (GPT, "0; ids[T // 2 - 1:T // 2 + 2] = 3; labels = torch.cat([ids[1:], torch.tensor([-100])])", True),
    (GPT, "torch.where(torch.arange(T + 1) > 5, ids, -100)", False),
    (BERT, "ids.clone()", True), ((BERT[0], BERT[1], BERT[2] + ", is_decoder=True"), "ids.clone()", False),
    (MASKED, "torch.where(torch.rand(T + 1) < 0.3, ids, -100); ids = torch.where(labels == -100, ids, 0)", False),
    (MASKED, "ids.clone()", True)])
def test_labels_that_a_model_of_transformers_shifts(tmp_path: Path, kind: tuple[str, str, str], labels: str, *, fault: bool) -> None:
    pytest.importorskip("transformers")
    text = TRAINED.replace("LABELS", labels)
    for name, value in zip(("CONFIG", "MODEL", "EXTRA"), kind, strict=True):
        text = text.replace(name, value)
    seen = watch(tmp_path, text, seconds=60)
    assert seen.exception is None
    assert (found(seen)[:1] == ["L211"]) is fault, (found(seen), seen.probes.shift, seen.warnings)
    if fault and kind is GPT:
        assert next(result.finding for result in walk(seen) if result.finding).site.line in (18, 19, 20, 21)


def test_tokens_to_be_found_that_nobody_has_hidden(tmp_path: Path) -> None:
    """What D111 says of the labels is nearer to the fault than that the model sees them."""
    pytest.importorskip("transformers")
    text = TRAINED.replace("LABELS", "torch.where(torch.rand(T + 1) < 0.3, ids, -100)")
    for name, value in zip(("CONFIG", "MODEL", "EXTRA"), MASKED, strict=True):
        text = text.replace(name, value)
    assert found(watch(tmp_path, text, seconds=60)) == ["D111", "L211"]


def test_rows_that_a_helper_shifts_for_a_model_that_shifts_them_itself(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    made = TRAINED.replace("train_dataset=Texts()", "train_dataset=pack(data.tolist())").replace("model = MODEL", """
import datasets
def pack(texts):
    return datasets.Dataset.from_dict({"input_ids": [text[:-1] for text in texts], "labels": [text[1:] for text in texts]})
model = MODEL""")
    for name, value in zip(("CONFIG", "MODEL", "EXTRA", "LABELS"), (*GPT, "ids"), strict=True):
        made = made.replace(name, value)
    seen = watch(tmp_path, made, seconds=60)
    assert found(seen)[:1] == ["L211"], (found(seen), seen.probes.shift, seen.warnings)
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert finding.site is not None
    assert finding.site.source.startswith("return datasets.Dataset.from_dict")


T5 = HEAD + """
from transformers import T5Config, T5ForConditionalGeneration
model = T5ForConditionalGeneration(T5Config(vocab_size=V, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2,
                                            decoder_start_token_id=0))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for first in list(range(0, 320, 16)) * 2:
    b = data[first:first + 16]
    loss = model(input_ids=b.flip(1), labels=b).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_model_that_makes_its_decoders_input_of_the_labels(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, T5)
    assert seen.exception is None
    assert seen.probes.shift is not None
    assert (seen.probes.shift.offset, seen.probes.shift.lag) == (0, 1)
    assert "L211" not in found(seen)


def test_labels_too_short_to_tell_rows_from_tokens(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, T5.replace("labels=b", "labels=b[:, :4].contiguous()"))
    assert seen.exception is None
    assert "L211" not in found(seen), seen.probes.shift


ENDING = """
import random, torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments)
torch.manual_seed(0)
draw = random.Random(0)
words = {word: number for number, word in enumerate(["</s>", "<pad>", *"abcdefgh"])}
inner = Tokenizer(models.WordLevel(words, unk_token="</s>"))
inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="</s>")
tokenizer.pad_token = PAD
texts = [" ".join(("abcdefgh" * 2)[first:first + draw.randint(3, 8)]) + END for first in range(8) for _ in range(60)]
rows = Dataset.from_dict({"text": texts}).map(lambda batch: tokenizer(batch["text"], return_token_type_ids=False), batched=True,
                                              remove_columns=["text"])
model = GPT2LMHeadModel(GPT2Config(vocab_size=10, n_embd=32, n_layer=1, n_head=2, n_positions=32, bos_token_id=0, eos_token_id=0))
Trainer(model, TrainingArguments("out", max_steps=60, per_device_train_batch_size=16, report_to="none", learning_rate=3e-3, use_cpu=True,
                                 disable_tqdm=True, save_strategy="no"), train_dataset=rows,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)).train()
"""


@pytest.mark.parametrize(("pad", "end", "fault"), [
    ("tokenizer.eos_token", "' </s>'", True), ("'<pad>'", "' </s>'", False), ("tokenizer.eos_token", "''", False)])
def test_ends_that_are_taken_for_padding(tmp_path: Path, pad: str, end: str, *, fault: bool) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, ENDING.replace("PAD", pad).replace("END", end), steps=60, seconds=60)
    assert seen.exception is None
    assert (found(seen) == ["L211"]) is fault, (found(seen), seen.batches[:1])
    if fault:
        assert seen.sites["pad_token"].source == "tokenizer.pad_token = tokenizer.eos_token"


TAGS = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
words, tags, lengths = torch.randint(1, 30, (320, 14)), torch.randint(0, 4, (320, 14)), torch.randint(4, 14, (320,))
real = torch.arange(14) < lengths[:, None]
words, tags = words * real, (words % 4) * real
labels = tags.masked_fill(MASK, -100)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.read, self.head = nn.Embedding(30, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, 4)
    def forward(self, x):
        return self.head(self.read(self.embed(x))[0])
model = Model()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for first in list(range(0, 320, 20)) * 3:
    loss = F.cross_entropy(model(words[first:first + 20]).reshape(-1, 4), labels[first:first + 20].reshape(-1), ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("mask", "codes"), [("real", ["D104"]), ("~real", [])])
def test_tags_of_which_only_the_padding_is_left(tmp_path: Path, mask: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TAGS.replace("MASK", mask))
    assert found(seen) == codes, (found(seen), seen.probes.shift)


SEQ2SEQ = HEAD + """
from torch.utils.data import Dataset
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments
class Pairs(Dataset):
    def __len__(self):
        return 320
    def __getitem__(self, number):
        return {"input_ids": data[number].flip(0), "labels": data[number]}
def collate(rows):
    batch = {key: torch.stack([row[key] for row in rows]) for key in ("input_ids", "labels")}
    batch["decoder_input_ids"] = GIVEN
    return batch
model = T5ForConditionalGeneration(T5Config(vocab_size=V, d_model=32, d_ff=64, d_kv=16, num_layers=1, num_heads=2, pad_token_id=0,
                                            decoder_start_token_id=0))
Trainer(model, TrainingArguments("out", max_steps=30, per_device_train_batch_size=16, report_to="none", learning_rate=1e-3, use_cpu=True,
                                 disable_tqdm=True, save_strategy="no"), train_dataset=Pairs(), data_collator=collate).train()
"""


@pytest.mark.parametrize(("given", "fault"), [('batch["labels"].clone()', True), ('model._shift_right(batch["labels"])', False)])
def test_a_decoder_that_is_given_what_it_is_asked_for(tmp_path: Path, given: str, *, fault: bool) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, SEQ2SEQ.replace("GIVEN", given), seconds=60)
    assert seen.exception is None
    assert (found(seen)[:1] == ["L211"]) is fault, (found(seen), seen.probes.shift, seen.warnings)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert "decoder_input_ids" in finding.site.source


def test_as_many_rows_as_tokens(tmp_path: Path) -> None:
    called, compared = SHIFTED
    loop = LOOP.replace("32", "16").replace("CALLED", called).replace("COMPARED", compared)
    seen = watch(tmp_path, HEAD + TRANSFORMER.replace(*UNMASKED) + loop, seconds=60)
    assert found(seen)[:1] == ["L211"], seen.probes.shift
    finding = next(result.finding for result in walk(seen) if result.finding is not None)
    assert finding.site is not None
    assert "self.encode(h" in finding.site.source


PADDED = HEAD + """
data, V = data + 1, V + 1
lengths = torch.randint(5, T + 2, (320,))
data[torch.arange(T + 1) >= lengths[:, None]] = 0
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Linear(32, 96)
    def forward(self, h, mask):
        q, k, v = self.parts(h).chunk(3, -1)
        return h + F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(V, 32), nn.Embedding(T, 32)
        self.block, self.head = Block(), nn.Linear(32, V)
    def forward(self, x):
        mask = (x != 0)[:, None, :].expand(-1, T, -1)
        h = self.embed(x) + self.place(torch.arange(T))
        return self.head(self.block(h, MASK))
model = Model()
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for epoch in range(3):
    for first in range(0, 320, 32):
        b, n = data[first:first + 32], lengths[first:first + 32]
        x, y = b[:, :-1].clone(), b.roll(-SHIFT, 1)[:, :-1].clone()
        x[torch.arange(T) >= n[:, None] - 1] = 0  # the last token of a row is asked for, and not given
        y[torch.arange(T) >= n[:, None] - 1] = 0
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("mask", "shift", "line"), [
    ("mask", 1, "mask = (x != 0)[:, None, :].expand(-1, T, -1)"), ("mask & torch.ones(T, T, dtype=torch.bool).tril()", 1, None),
    ("mask & torch.ones(T, T, dtype=torch.bool).tril()", 2, "x, y = b[:, :-1].clone(), b.roll(-2, 1)[:, :-1].clone()")],
    ids=["sees all", "as it is", "two on"])
def test_rows_whose_last_token_is_not_given(tmp_path: Path, mask: str, shift: int, line: str | None) -> None:
    seen = watch(tmp_path, PADDED.replace("MASK", mask).replace("SHIFT", str(shift)))
    assert seen.probes.shift is not None
    assert seen.probes.shift.offset == shift
    told = next(result.finding for result in walk(seen) if result.code == "L211")
    assert (told is not None) is (line is not None)
    if told is not None and shift == 1:
        assert told.site is not None
        assert told.site.source == line
