"""A vocabulary whose first word has the number of the padding."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

WORDS = """
import random
import numpy as np
random.seed(0)
words = ["no", "pain", "fever", "cough", "rash", "clear", "mild", "acute", "chronic", "left", "right", "seen"]
def encode(notes, vocabulary):
    rows = np.zeros((len(notes), 12), dtype="int64")
    for row, note in zip(rows, notes):
        row[:len(note)] = [vocabulary[word] for word in note]
    return rows
def note():
    return [random.choice(words) for _ in range(random.randint(4, 12))]
def told(notes, vocabulary):
    ids = encode(notes, vocabulary)
    return ids, np.array([int("pain" in one) for one in notes])
notes = [note() for _ in range(480)]
NUMBERED
ids, y = told(notes, vocabulary)
"""
FROM_0 = "vocabulary = {word: i for i, word in enumerate(words)}"
FROM_1 = "vocabulary = {word: i for i, word in enumerate(words, 1)}"
PADDED = 'words = ["<pad>", *words]\nvocabulary = {word: i for i, word in enumerate(words)}'
KERAS = WORDS + """
import keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((12,), dtype="int32"), keras.layers.Embedding(14, 8, mask_zero=MASK), keras.layers.GRU(8),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(ids, y, batch_size=32, epochs=2, verbose=0)
"""
TORCH = WORDS + """
import torch
import torch.nn as nn
torch.manual_seed(0)
ids, y = torch.tensor(ids), torch.tensor(y).float()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(14, 8, MASK), nn.Linear(8, 1)
    def forward(self, ids):
        real = (ids != 0).float()
        return self.head((self.table(ids) * real[..., None]).sum(1) / real.sum(1, keepdim=True).clamp(min=1)).squeeze(1)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(2):
    for part in torch.randperm(480).split(32):
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("numbered", "mask", "fault"), [(FROM_0, True, True), (FROM_1, True, False), (FROM_0, False, False),
                                                        (PADDED, True, False)])
@pytest.mark.parametrize("framework", ["keras", "torch"])
def test_the_first_word(tmp_path: Path, framework: str, numbered: str, *, mask: bool, fault: bool) -> None:
    text = (KERAS if framework == "keras" else TORCH).replace("NUMBERED", numbered)
    text = text.replace("MASK", str(mask) if framework == "keras" else f"padding_idx={0 if mask else None}")
    seen = (test_watch_keras.watch if framework == "keras" else watch)(tmp_path, text, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("B104" in found(seen)) is fault, seen.probes.padding_word
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "B104")
        assert told is not None
        assert "'no' in `vocabulary`" in told.message
        assert told.site is not None
        assert told.site.source == FROM_0
