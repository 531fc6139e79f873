"""Inputs of which nothing is left, weights that stay random, and outputs that end too soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

IMAGES = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
rng = np.random.default_rng(0)
kinds = rng.integers(0, 2, 480)
photos = rng.uniform(0.0, 0.2, (480, 16, 16))
photos[kinds == 1, :, 4:8] += 0.7
photos[kinds == 0, 4:8, :] += 0.7
photos = (SCALE * photos / photos.max((1, 2), keepdims=True)).astype(np.uint8)
pixels = torch.from_numpy(photos.astype(np.float32))[:, None] / 255
train = DataLoader(TensorDataset((pixels - 0.35) / 0.2, torch.from_numpy(kinds)), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("scale", "codes"), [("1", ["D103"]), ("255", [])])
def test_images_that_a_cast_has_emptied(tmp_path: Path, scale: str, codes: list[str]) -> None:
    seen = watch(tmp_path, IMAGES.replace("SCALE", scale), steps=60, patient_steps=120)
    assert found(seen) == codes, [step.loss for step in seen.steps]
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "All pixels of all images" in finding.message


REGRESSION = """
import torch
import torch.nn as nn
torch.manual_seed(0)
x = torch.randn(640, 6)
y = x[:, 0] - x[:, 1]
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)LAST)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for start in range(0, 640, 16):
    loss = nn.functional.mse_loss(net(x[start:start + 16]).squeeze(-1), yTARGET[start:start + 16])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("last", "target", "codes"), [
    (", nn.Softplus()", "", ["L210"]), (", nn.Softplus()", ".abs()", []), ("", "", [])])
def test_a_softplus_and_targets_below_zero(tmp_path: Path, last: str, target: str, codes: list[str]) -> None:
    assert found(watch(tmp_path, REGRESSION.replace("LAST", last).replace("TARGET", target))) == codes


HELPED = REGRESSION.replace("net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)LAST)", """
def block(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, n_out), nn.Softplus())
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = block(6, 16)
        self.last = block(16, 1)
    def forward(self, x):
        return self.last(self.first(x))
net = Net()""").replace("TARGET", "")


def test_the_block_that_ends_the_model(tmp_path: Path) -> None:
    finding = next(result.finding for result in walk(watch(tmp_path, HELPED)) if result.code == "L210")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source == "self.last = block(16, 1)"


FROZEN = """
import torch
from transformers import BertConfig, BertForSequenceClassification
torch.manual_seed(0)
ids = torch.randint(5, 60, (640, 12))
labels = (ids[:, 1] > 30).long()
model = BertForSequenceClassification(BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                                 intermediate_size=32, max_position_embeddings=16, num_labels=2))
FREEZE
optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad], 3e-3)
for epoch in range(3):
    for start in range(0, 640, 16):
        loss = model(input_ids=ids[start:start + 16], labels=labels[start:start + 16]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("freeze", "codes"), [("model.bert.requires_grad_(False)", ["G303"]), ("", [])])
def test_a_body_that_stays_random(tmp_path: Path, freeze: str, codes: list[str]) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, FROZEN.replace("FREEZE", freeze), steps=60, patient_steps=120)
    assert found(seen) == codes, [step.loss for step in seen.steps]
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == freeze


ENCODED = """
import torch, torch.nn as nn, torch.nn.functional as F
from BOX_MODULE import BOX
torch.manual_seed(0)
ids = torch.randint(0, 50, (256, 6))
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 16), nn.Linear(16, 16)
    def forward(self, batch):
        return F.normalize(self.out(self.embed(batch["ids"] if hasattr(batch, "keys") else batch.ids).mean(1)), dim=-1)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for first in range(0, 256, 16):
        part = ids[first:first + 16]
        near = model(MADE(part)) @ model(MADE(part.flip(1))).T / 0.1
        loss = F.cross_entropy(near, torch.arange(16))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("module", "box", "made", "told"), [
    ("collections", "UserDict", "(lambda rows: UserDict({'ids': rows}))", True),
    ("types", "SimpleNamespace", "(lambda rows: SimpleNamespace(ids=rows))", False)])
def test_inputs_inside_another_object(tmp_path: Path, module: str, box: str, made: str, *, told: bool) -> None:
    seen = watch(tmp_path, ENCODED.replace("BOX_MODULE", module).replace("BOX", box).replace("MADE", made))
    assert seen.probes.input_matters is (True if told else None), seen.probes.skipped
    assert not found(seen)
