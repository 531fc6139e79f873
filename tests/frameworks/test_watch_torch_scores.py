"""Scores that are cut into other pieces, gradients that float16 loses, targets that are far, batches put together by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, found, watch

TAGGER = """
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
ids = torch.randint(0, 20, (320, 9))
tags = ids % 5
model = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for rows in torch.randperm(320).split(16):
        logits = model(ids[rows])
        loss = F.cross_entropy(logits.CHANGED, tags[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("changed", "wrong"), [("reshape(16, 5, 9)", True), ("view(16, 5, 9)", True), ("transpose(1, 2)", False),
                                                ("permute(0, 2, 1).contiguous()", False)])
def test_scores_that_are_cut(tmp_path: Path, changed: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TAGGER.replace("CHANGED", changed))
    assert ("L203" in found(seen)) is wrong, found(seen)
    assert (seen.loss_calls[0].cut_from == [16, 9, 5]) is wrong


HALF = HEAD + """
scaler = torch.amp.GradScaler("cpu")
for epoch in range(3):
    for xb, yb in train:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            out = model(xb)
        loss = SMALL * F.cross_entropy(out.float(), yb)
        BACKWARD
"""
PLAIN, SCALED = "loss.backward(); optimizer.step()", "scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()"


@pytest.mark.parametrize(("small", "backward", "wrong"), [("1e-7", PLAIN, True), ("1", PLAIN, False), ("1e-7", SCALED, False)])
def test_gradients_in_float16(tmp_path: Path, small: str, backward: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, HALF.replace("SMALL", small).replace("BACKWARD", backward))
    assert ("G305" in found(seen)) is wrong, (found(seen), seen.probes.half_lost)
    assert (seen.probes.half_lost is None) is (backward == SCALED)


PRICES = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(320, 10)
y = 40_000 + 9_000 * torch.sin(x[:, :3]).sum(1, keepdim=True)
SCALING
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for rows in torch.randperm(320).split(16):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("scaling", "wrong"), [("", True), ("y = (y - y.mean()) / y.std()", False)])
def test_targets_that_are_far(tmp_path: Path, scaling: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, PRICES.replace("SCALING", scaling), steps=60, probe_seconds=4)
    assert ("L210" in found(seen)) is wrong, found(seen)


PAIRS = HEAD + """
ones, zeros = X[y == 1], X[y == 0]
for step in range(40):
    xb = torch.cat([ones[torch.randint(0, len(ones), (300,))], zeros[torch.randint(0, len(zeros), (900,))]])
    yb = torch.cat([torch.ones(300), torch.zeros(900)])
    optimizer.zero_grad()
    loss = F.binary_cross_entropy_with_logits(model(xb)[:, 0], yb)
    loss.backward()
    optimizer.step()
"""


def test_a_batch_of_two_kinds_one_behind_the_other(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, PAIRS)
    assert "D107" not in found(seen), found(seen)
    assert set(seen.steps[0].labels or []) == {0, 1}


LANGUAGE = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel
torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=20, n_positions=16, n_embd=16, n_layer=1, n_head=2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(24):
    ids, mask = torch.zeros(16, 16, dtype=torch.long), torch.zeros(16, 16, dtype=torch.long)
    for row in range(16):
        length = int(torch.randint(SHORT, (1,)))
        ids[row, :length], mask[row, :length] = (torch.arange(length) + row) % 18 + 1, 1
    labels = LABELS
    loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("short", "labels", "wrong"), [
    ("4, 9", "ids.clone()", True), ("4, 9", "ids.masked_fill(mask == 0, -100)", False),
    ("13, 16", "ids.clone()", False)])  # little more than the end of each text
def test_padding_that_a_language_model_learns(tmp_path: Path, short: str, labels: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    seen = watch(tmp_path, LANGUAGE.replace("SHORT", short).replace("LABELS", labels))
    assert ("L214" in found(seen)) is wrong, found(seen)
