"""Rows of ids that were cut from longer texts: what is lost by that, whoever cut them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras as of_keras
from tests.frameworks.watching import watch

TEXTS = """
import random
import torch
import torch.nn as nn
random.seed(0)
torch.manual_seed(0)
WORDS = "rain tea lamp door moss salt fern rope milk sand dust leaf".split()
labels = [random.randrange(2) for _ in range(600)]
texts = [" ".join(random.choices(WORDS, k=random.randint(20, 30)) + (["good", "kind"] if label else ["bad", "poor"])) for label in labels]
VOCABULARY = {word: number + 2 for number, word in enumerate(WORDS + ["good", "kind", "bad", "poor"])}
def encode(text):
    ids = [VOCABULARY[word] for word in text.split()]
    return ids[:LENGTH] + [0] * (LENGTH - len(ids))
LENGTH = 16
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 16, padding_idx=0)
        self.head = nn.Linear(16, 2)
    def forward(self, ids):
        return self.head(self.table(ids).mean(1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""
OF_TENSORS = """
rows = torch.tensor([encode(text) for text in texts])
wanted = torch.tensor(labels)
for epoch in range(6):
    for some in torch.randperm(600).split(30):
        loss = nn.functional.cross_entropy(model(rows[some]), wanted[some])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
OF_A_DATASET = """
class Notes(torch.utils.data.Dataset):
    def __init__(self, texts, labels):
        self.texts, self.labels = texts, labels
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, number):
        return torch.tensor(encode(self.texts[number])), self.labels[number]
def main():
    for epoch in range(6):
        for ids, wanted in torch.utils.data.DataLoader(Notes(texts, labels), batch_size=30, shuffle=True):
            loss = nn.functional.cross_entropy(model(ids), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
main()
"""
OF_A_TOKENIZER = """
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import PreTrainedTokenizerFast
made = Tokenizer(WordLevel({"[PAD]": 0, "[UNK]": 1, **VOCABULARY}, unk_token="[UNK]"))
made.pre_tokenizer = Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]")
def main():
    for epoch in range(6):
        for some in torch.randperm(600).split(30):
            ids = tokenizer([texts[number] for number in some], truncation=True, max_length=LENGTH, padding=True, return_tensors="pt")
            loss = nn.functional.cross_entropy(model(ids["input_ids"]), torch.tensor(labels)[some])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
main()
"""


@pytest.mark.parametrize("way", [OF_TENSORS, OF_A_DATASET, OF_A_TOKENIZER], ids=["tensors", "dataset", "tokenizer"])
@pytest.mark.parametrize(("change", "fault"), [(("", ""), True), (("LENGTH = 16", "LENGTH = 40"), False),
                                               (("(WORDS, k=random.randint(20, 30)) + (", "(WORDS, k=2) + ("), False),
                                               (("texts = [", "texts = [\"good \" * label + \"bad \" * (1 - label) + "), False)],
                         ids=["cut", "long enough", "short texts", "told at the start"])
def test_what_is_cut_off(tmp_path: Path, way: str, change: tuple[str, str], *, fault: bool) -> None:
    """Texts whose last two words tell the label, brought to 16 words."""
    seen = watch(tmp_path, TEXTS.replace(*change) + way if change[0] else TEXTS + way)
    found = {result.code: result.finding for result in walk(seen) if result.state == "found"}
    assert ("D113" in found) is fault
    if fault:
        finding = found["D113"]
        assert finding is not None
        assert "lose their end" in finding.message
        assert finding.site is not None
        assert "LENGTH" in finding.site.source
        assert "D106" not in found


@pytest.mark.parametrize(("truncating", "fault"), [("pre", True), ("post", False)])
def test_keras_cuts_at_the_front(tmp_path: Path, truncating: str, *, fault: bool) -> None:
    """What `pad_sequences` does unless it is told otherwise, where the first word tells."""
    pytest.importorskip("tensorflow")
    seen = of_keras.watch(tmp_path, f"""
import numpy as np
import keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 600)
rows = [[20 + label, *rng.integers(1, 20, rng.integers(20, 30))] for label in y]
x = keras.utils.pad_sequences(rows, maxlen=16, truncating="{truncating}")
model = keras.Sequential([keras.Input((16,)), keras.layers.Embedding(24, 16), keras.layers.GlobalAveragePooling1D(),
                          keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=6, batch_size=30, verbose=0)
""")
    found = {result.code: result.finding for result in walk(seen) if result.state == "found"}
    assert ("D113" in found) is fault
    if fault:
        assert found["D113"] is not None
        assert "lose their beginning" in found["D113"].message


@pytest.mark.parametrize(("length", "fault"), [(16, True), (40, False)])
def test_a_text_among_what_else_is_known_of_a_row(tmp_path: Path, length: int, *, fault: bool) -> None:
    """Rows that hold a kind, an id and a text, of which the kind goes before the text, between two marks."""
    told = TEXTS.replace("LENGTH = 16", f"LENGTH = {length}").replace("    return ids", "    ids = [1, 18, 1] + ids\n    return ids")
    whole = "texts = [{'kind': 'note', 'number': n, 'text': text} for n, text in enumerate(texts)]\n" + OF_TENSORS.replace(
        "encode(text)", "encode(text['text'])")
    seen = watch(tmp_path, told + whole)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    told_of = next(result.finding for result in walk(seen) if result.code == "D113")
    assert (told_of is not None) is fault, seen.probes.whole
