"""Tables of ids that are masked in place while they are trained on."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
MASK, WORDS, LENGTH = 3, 60, 16
first = rng.integers(4, WORDS, (320, 1))
ids = (first - 4 + np.arange(LENGTH)) % (WORDS - 4) + 4
def mask_tokens(rows):
    picked = rng.random(rows.shape) < 0.2
    labels = np.where(picked, rows, -100)
    inputs = COPY
    inputs[picked] = MASK
    return inputs, labels
"""
TORCH = DATA + """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(WORDS, 16), nn.Conv1d(LENGTH, LENGTH, 3, padding=1), nn.ReLU(), nn.Linear(16, WORDS))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(4):
    for start in range(0, len(ids), 32):
        inputs, labels = mask_tokens(ids[start:start + 32])
        loss = F.cross_entropy(model(torch.tensor(inputs)).flatten(0, 1), torch.tensor(labels).flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = DATA + """
import tensorflow as tf, keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((LENGTH,)), keras.layers.Embedding(WORDS, 16), keras.layers.Dense(32, activation="relu"),
                          keras.layers.Dense(WORDS)])
optimizer = keras.optimizers.Adam(1e-2)
def train():
    for epoch in range(4):
        for start in range(0, len(ids), 32):
            inputs, labels = mask_tokens(ids[start:start + 32])
            with tf.GradientTape() as tape:
                each = keras.losses.sparse_categorical_crossentropy(np.maximum(labels, 0), model(inputs, training=True), from_logits=True)
                loss = tf.reduce_sum(each * (labels >= 0)) / np.sum(labels >= 0)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
train()
"""


@pytest.mark.parametrize("text", [TORCH, KERAS], ids=["torch", "keras"])
@pytest.mark.parametrize(("copy", "wrong"), [("rows", True), ("rows.copy()", False)])
def test_a_slice_that_is_masked(tmp_path: Path, text: str, copy: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    look = watch if text is TORCH else test_watch_keras.watch
    seen = look(tmp_path, text.replace("COPY", copy), probe_seconds=0.3, steps=40)
    assert seen.warnings == []
    assert ("D103" in found(seen)) is wrong, seen.eaten
    if wrong:
        assert seen.eaten is not None
        assert (seen.eaten.name, seen.eaten.value) == ("ids", 3)
        result = next(result.finding for result in walk(seen) if result.code == "D103")
        assert result is not None
        assert result.site is not None
        assert result.site.source == "inputs = rows"


def test_a_table_that_changes_for_other_reasons(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for change in ("ids = rng.permuted(ids, axis=1)", "ids[:] = ids[rng.permutation(320)]"):
        text = TORCH.replace("COPY", "rows.copy()").replace("        optimizer.step()\n", f"        optimizer.step()\n    {change}\n")
        assert watch(tmp_path, text, probe_seconds=0.3, steps=40).eaten is None
