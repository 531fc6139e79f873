"""Losses that are no numbers since what they compare with is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

SCRIPT = """
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(320, 6)
given = np.random.default_rng(0).normal(size=(320, 1)).astype("float32")
given[100] = VALUE
held = torch.tensor(given)
wanted = held / 2
model = nn.Linear(6, 1)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(2):
    for first in range(0, 320, 32):
        rows = torch.arange(first, first + 32)
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KNOWN, OWN = "F.mse_loss(model(x[rows]), wanted[rows])", "(model(x[rows]) - wanted[rows]).pow(2).mean()"


@pytest.mark.parametrize("loss", [KNOWN, OWN], ids=["known loss", "own arithmetic"])
def test_a_target_that_is_no_number(tmp_path: Path, loss: str) -> None:
    seen = watch(tmp_path, SCRIPT.replace("LOSS", loss).replace("VALUE", "np.nan"))
    assert found(seen) == ["L209"]
    assert (seen.births[0].what, seen.births[0].name, seen.births[0].rows, seen.births[0].step) == ("input", "target", [4], 4)
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert finding is not None
    assert "comes with the data: the target, rows 4 holds" in finding.message
    assert finding.site is not None
    assert finding.site.source == "held = torch.tensor(given)"


def test_a_loss_that_divides_by_zero_is_born_there(tmp_path: Path) -> None:
    seen = watch(tmp_path, SCRIPT.replace("LOSS", OWN.replace(".mean()", ".mean() * torch.zeros(1).div(0).sum()")).replace("VALUE", "0"))
    assert found(seen) == ["L209"]
    assert seen.births[0].what != "input"


PREPARED = """
import torch, torch.nn as nn
torch.manual_seed(0)
x = torch.rand(320, 6)
x[::3, 2] = FLOOR
y = (x[:, 0] > 0.5).long()

class Levels(torch.utils.data.Dataset):
    def __len__(self):
        return 320
    def __getitem__(self, i):
        return torch.log(x[i]), y[i]

model = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for rows, labels in torch.utils.data.DataLoader(Levels(), batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("floor", "codes"), [("-1.0", ["L209"]), ("0.5", [])])
def test_what_a_normalisation_keeps_of_bad_rows_is_no_cause(tmp_path: Path, floor: str, codes: list[str]) -> None:
    seen = watch(tmp_path, PREPARED.replace("FLOOR", floor))
    assert found(seen) == codes
    if codes:
        assert (seen.births[0].what, seen.births[0].step) == ("input", 1)
        assert seen.births[0].site is not None
        assert seen.births[0].site.source == "return torch.log(x[i]), y[i]"


ATTENTION = """
import torch, torch.nn as nn
torch.manual_seed(0)
x, y = torch.randn(60, 8), torch.randint(0, 2, (60,))
linked = torch.rand(60, 60) < 0.1
linked[7] = False
OWN

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys, self.out = nn.Linear(8, 8), nn.Linear(8, 2)
    def forward(self, x):
        scores = (x @ self.keys(x).T).masked_fill(~linked, float("-inf"))
        weights = torch.softmax(scores, -1)
        return self.out(weights @ x)

model = Attention()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for step in range(30):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("own", "codes"), [("", ["L209"]), ("linked |= torch.eye(60, dtype=torch.bool)", [])])
def test_attention_to_nothing(tmp_path: Path, own: str, codes: list[str]) -> None:
    seen = watch(tmp_path, ATTENTION.replace("OWN", own))
    assert found(seen) == codes
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == "weights = torch.softmax(scores, -1)"
        assert "rows 7" in finding.message
        assert "everything is masked" in finding.message


@pytest.mark.parametrize(("weight", "codes"), [("model.weight[0, 0] = float('inf')", ["L209"]), ("model.weight[0, 0] = 1.0", [])])
def test_a_weight_that_is_infinite_before_its_input_is_looked_at(tmp_path: Path, weight: str, codes: list[str]) -> None:
    spoilt = SCRIPT.replace("LOSS", KNOWN).replace("VALUE", "0").replace(
        "optimizer =", f"with torch.no_grad():\n    {weight}\noptimizer =")
    seen = watch(tmp_path, spoilt)
    assert found(seen) == codes
    if codes:
        assert (seen.births[0].what, seen.births[0].name) == ("weight", "weight")


FORCES = """
import torch
import torch.nn as nn
torch.manual_seed(0)

class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    def forward(self, places):
        apart = places[:, :, None] - places[:, None]
        far = (apart.pow(2).sum(-1) + FLOOR).sqrt()
        energy = self.net(far[..., None]).squeeze(-1) * (1 - torch.eye(4))
        RETURNED
model = Pairs()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(12):
    places = torch.randn(16, 4, 3).requires_grad_(True)
    forces = FORCE
    loss = (forces + places).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DERIVED = "-torch.autograd.grad({}.sum(), places, create_graph=True)[0]"


@pytest.mark.parametrize(("floor", "codes"), [("0", ["L209"]), ("1e-6", [])])
@pytest.mark.parametrize(("returned", "force"), [("return energy", DERIVED.format("model(places)")),
                                                 (f"return {DERIVED.format('energy')}", "model(places)")])
def test_a_derivative_that_the_loss_is_made_of(tmp_path: Path, floor: str, codes: list[str], returned: str, force: str) -> None:
    text = FORCES.replace("FLOOR", floor).replace("RETURNED", returned).replace("FORCE", force)
    seen = watch(tmp_path, text, steps=8, probe_seconds=0.5)
    assert found(seen) == codes
    assert seen.warnings == []
    for birth in seen.births:
        assert birth.site is not None
        assert ".sqrt()" in birth.site.source
        assert birth.name.startswith("Sqrt in a derivative")
