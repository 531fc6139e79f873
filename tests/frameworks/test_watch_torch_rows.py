"""Rows of a batch that influence each other, padding that drowns them, and models of which that is no fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import Finding, walk
from harness.checks.observation import Observation
from tests.frameworks.watching import watch

pytest.importorskip("torch")


def first(seen: Observation) -> tuple[str, Finding] | None:
    return next(((result.code, result.finding) for result in walk(seen) if result.state == "found" and result.finding), None)


SEQUENCES = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
y = torch.randint(0, 3, (480,))
t = torch.arange(20.)
X = torch.stack([torch.sin((1 + y[:, None]) * t * 0.4 + 6 * torch.rand(480, 1)) for _ in range(3)], dim=2) + 0.1 * torch.randn(480, 20, 3)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        LAYER
        self.head = nn.Linear(24, 3)
    def forward(self, x):
        CALL
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
VIEW = ("self.gru = nn.GRU(3, 24)", """x = x.view(20, x.size(0), 3)
        return self.head(self.gru(x)[1][-1])""")
SECOND = ("self.gru = nn.GRU(3, 24)", """out, _ = self.gru(x)
        return self.head(out[:, -1])""")
ATTENTION = ("""self.up = nn.Linear(3, 24)
        self.mix = nn.TransformerEncoderLayer(24, 2, 32, dropout=0.0)""", """x = self.mix(self.up(x))
        return self.head(x.mean(1))""")
HEALTHY = [
    ("self.gru = nn.GRU(3, 24, batch_first=True)", "return self.head(self.gru(x)[0][:, -1])"),
    ("self.gru = nn.GRU(3, 24)", """x = x.permute(1, 0, 2)
        return self.head(self.gru(x)[1][-1])"""),
    ("self.up, self.norm = nn.Linear(60, 24), nn.BatchNorm1d(24, track_running_stats=False)",
     "return self.head(torch.relu(self.norm(self.up(x.view(x.size(0), -1)))))"),
    ("""self.up = nn.Linear(3, 24)
        self.mix = nn.TransformerEncoderLayer(24, 2, 32, dropout=0.0, batch_first=True)""",
     "return self.head(self.mix(self.up(x)).mean(1))"),
]


@pytest.mark.parametrize(("layer", "call", "line"), [
    (*VIEW, "x = x.view("), (*SECOND, "self.gru = nn.GRU("), (*ATTENTION, "self.mix = nn.TransformerEncoderLayer(")])
def test_axes_taken_for_one_another(tmp_path: Path, layer: str, call: str, line: str) -> None:
    found = first(watch(tmp_path, SEQUENCES.replace("LAYER", layer).replace("CALL", call)))
    assert found is not None
    # A reshape that exchanges nothing is named itself, before what it does to the rows.
    assert found[0] == ("F111" if line == "x = x.view(" else "F105")
    assert found[1].site is not None
    assert found[1].site.source.startswith(line)


def test_axes_taken_for_one_another_beside_a_hidden_state_that_the_script_hands_in(tmp_path: Path) -> None:
    text = (SEQUENCES.replace("LAYER", VIEW[0]).replace("CALL", VIEW[1].replace("self.gru(x)", "self.gru(x, h)"))
            .replace("def forward(self, x):", "def forward(self, x, h):").replace("model(xb)", "model(xb, torch.zeros(1, len(xb), 24))"))
    seen = watch(tmp_path, text)
    assert [result.code for result in walk(seen) if result.finding] == ["F111", "F105"]


@pytest.mark.parametrize(("layer", "call"), HEALTHY)
def test_rows_that_are_apart(tmp_path: Path, layer: str, call: str) -> None:
    seen = watch(tmp_path, SEQUENCES.replace("LAYER", layer).replace("CALL", call))
    assert seen.probes.rows is not None
    found = first(seen)
    assert found is None or found[0] != "F105"


TOKENS = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
y = torch.randint(0, 2, (400,))
lengths = torch.randint(4, 9, (400,))
X = torch.randint(1, 20, (400, WIDTH)) + 20 * y[:, None]
X[torch.arange(WIDTH) >= lengths[:, None]] = 0
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(50, 16, padding_idx=0), nn.GRU(16, 24, batch_first=True), nn.Linear(24, 2)
    def forward(self, x):
        h = self.emb(x)
        PACK
        _, last = self.rnn(h)
        return self.out(last[-1])
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(3):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=20, shuffle=True):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_padding_that_is_read_last(tmp_path: Path) -> None:
    found = first(watch(tmp_path, TOKENS.replace("WIDTH", "120").replace("PACK", "pass")))
    assert found is not None
    assert found[0] == "B102"
    assert "filled up to 120" in found[1].message
    assert found[1].site is not None
    assert found[1].site.source == "_, last = self.rnn(h)"


@pytest.mark.parametrize(("width", "pack"), [
    ("120", "h = pack_padded_sequence(h, (x != 0).sum(1), batch_first=True, enforce_sorted=False)"), ("9", "pass")])
def test_padding_that_does_no_harm(tmp_path: Path, width: str, pack: str) -> None:
    seen = watch(tmp_path, TOKENS.replace("WIDTH", width).replace("PACK", pack))
    found = first(seen)
    assert found is None or found[0] != "B102"


READINGS = TOKENS.replace("randint(1, 20, (400, WIDTH)) + 20 * y[:, None]", "randn(400, WIDTH, 3) + y[:, None, None]").replace(
    "self.emb, self.rnn, self.out = nn.Embedding(50, 16, padding_idx=0), nn.GRU(16, 24", "self.rnn, self.out = nn.GRU(3, 24").replace(
    "h = self.emb(x)", "h = x")


@pytest.mark.parametrize(("width", "pack", "wrong"), [
    ("120", "pass", True), ("9", "pass", False),
    ("120", "h = pack_padded_sequence(h, (x != 0).any(2).sum(1), batch_first=True, enforce_sorted=False)", False)])
def test_steps_that_are_filled_up(tmp_path: Path, width: str, pack: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, READINGS.replace("WIDTH", width).replace("PACK", pack))
    found = first(seen)
    assert (found is not None and found[0] == "B102") is wrong, (found, seen.probes.padding)
    if wrong:
        assert found is not None
        assert "at most 8 steps" in found[1].message


POOLED = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
y = torch.randint(0, 2, (640,))
X = torch.randn(640, 6, 8)
X[torch.arange(640), torch.randint(0, 6, (640,)), 0] += 4.0 * y
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.score, self.out = nn.Linear(8, 16), nn.Linear(16, 1), nn.Linear(16, 2)
    def forward(self, x):
        h = torch.relu(self.body(x))
        weights = F.softmax(self.score(h), dim=DIM)
        return self.out((weights * h).sum(1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=32, shuffle=True):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("dim", "code"), [("0", "F105"), ("1", None)])
def test_a_softmax_over_the_rows(tmp_path: Path, dim: str, code: str | None) -> None:
    found = first(watch(tmp_path, POOLED.replace("DIM", dim)))
    assert (found[0] if found is not None else None) == code
    assert found is None or (found[1].site is not None and found[1].site.source.startswith("weights = F.softmax"))
