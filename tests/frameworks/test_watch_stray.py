"""Losses that are computed and never go backward, cosines as logits, steps by hand before an optimizer, batches that are added up."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, found, watch

TWO = HEAD + """
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.kind, self.size = nn.Linear(10, 32), nn.Linear(32, 2), nn.Linear(32, 1)
    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.kind(h), self.size(h).squeeze(1)
model = Both()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for xb, yb in train:
        kind, size = model(xb)
        first = F.cross_entropy(kind, yb)
        second = F.mse_loss(size, xb[:, 2])
        optimizer.zero_grad()
        BACK
        optimizer.step()
"""


@pytest.mark.parametrize(("back", "fault"), [
    ("(first + 2 * second.item()).backward()", True), ("(first + 2 * second).backward()", False),
    ("first.backward(retain_graph=True); second.backward()", False),
    ("(first if epoch < 3 else first + second).backward()", False)])
def test_a_loss_that_stays_behind(tmp_path: Path, back: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TWO.replace("BACK", back))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert (found(seen) == ["G302"]) is fault, found(seen)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source.startswith("second = ")


PAIRS = HEAD + """
left, right = nn.Linear(10, 16), nn.Linear(10, 16)
optimizer = torch.optim.Adam([*left.parameters(), *right.parameters()], lr=1e-2)
for epoch in range(4):
    for xb, yb in train:
        a, b = F.normalize(left(xb), dim=1), F.normalize(right(xb + 0.1 * torch.randn_like(xb)), dim=1)
        loss = F.cross_entropy(SCORES, torch.arange(len(xb)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("scores", "fault"), [
    ("a @ b.T", True), ("(a @ b.T).T", True), ("torch.einsum('id,jd->ij', a, b)", True), ("a @ b.T / 0.1", False),
    ("a @ b.T * 0.1", True), ("0.5 * (a @ b.T) / 8", True), ("12 * a @ b.T.detach()", False),
    ("left(xb) @ b.T", False)])
def test_cosines_as_logits(tmp_path: Path, scores: str, *, fault: bool) -> None:
    seen = watch(tmp_path, PAIRS.replace("SCORES", scores))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("L210" in found(seen)) is fault, found(seen)


BY_HAND = """
import torch
torch.manual_seed(0)
x = torch.randn(1000, 8)
y = torch.sigmoid(x @ torch.randn(8) * 0.8)
w, b = torch.zeros(8, requires_grad=True), torch.zeros((), requires_grad=True)
def loss_of(x, y):
    return ((torch.sigmoid(x @ w + b) - y) ** 2).mean()
for step in range(400):
    loss_of(x, y).backward()
    with torch.no_grad():
        w -= 20.0 * w.grad
        b -= 20.0 * b.grad
    w.grad = b.grad = None
w.data.zero_(), b.data.zero_()
optimizer = torch.optim.SGD([w, b], lr=20.0)
for epoch in range(10):
    for part in torch.randperm(1000).split(100):
        optimizer.zero_grad()
        loss_of(x[part], y[part]).backward()
        optimizer.step()
"""


def test_steps_by_hand_are_no_part_of_an_optimizers_first(tmp_path: Path) -> None:
    seen = watch(tmp_path, BY_HAND)
    assert found(seen) == []
    assert seen.probes.initial_loss is not None
    assert seen.probes.initial_loss < 0.5


ADDED_UP = HEAD + """
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.4, momentum=0.9)
X, y = torch.randn(6400, 10) * 3, torch.randint(0, 2, (6400,))
y = (X[:, 0] * X[:, 1] > 0).long()
for epoch in range(3):
    optimizer.zero_grad()
    for number, part in enumerate(torch.randperm(6400).split(16)):
        (F.cross_entropy(model(X[part]), y[part]) / SHARE).backward()
        if number % 16 == 15:
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.mark.parametrize(("share", "fault"), [("1", True), ("16", False)])
def test_batches_that_are_added_up_until_the_training_blows_up(tmp_path: Path, share: str, *, fault: bool) -> None:
    seen = watch(tmp_path, ADDED_UP.replace("SHARE", share), probe_seconds=6.0)
    assert (found(seen)[:1] == ["L208"]) is fault, (found(seen), seen.probes.undivided)


HEADS = HEAD + """
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(10, 32)
        self.heads = nn.ModuleList(MADE)
    def forward(self, x):
        h = torch.relu(self.body(x))
        return torch.cat([head(h) for head in self.heads], dim=1)
model = Heads()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for xb, yb in train:
        loss = F.mse_loss(model(xb), xb[:, :3])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("made", "fault"), [("[nn.Linear(32, 1)] * 3", True), ("[nn.Linear(32, 1) for _ in range(3)]", False)])
def test_one_layer_for_all_columns(tmp_path: Path, made: str, *, fault: bool) -> None:
    seen = watch(tmp_path, HEADS.replace("MADE", made))
    assert found(seen) == (["F112", "L210"] if fault else [])
    if fault:
        assert seen.sites["multiplied"].source == "self.heads = nn.ModuleList([nn.Linear(32, 1)] * 3)"


SMALL = HEAD + """
target = 1e-4 * X[:, :2]
for epoch in range(4):
    for part in torch.randperm(320).split(16):
        with torch.autocast("cpu", dtype=torch.DTYPE):
            out = model(X[part])
        loss = F.mse_loss(1e-4 * out.float(), target[part])
        optimizer.zero_grad()
        (SCALE * loss).backward()
        for weight in model.parameters():
            weight.grad /= SCALE
        optimizer.step()
"""


@pytest.mark.parametrize(("dtype", "scale", "fault"), [("float16", "1.0", True), ("float16", "65536.0", False), ("bfloat16", "1.0", False)])
def test_gradients_too_small_for_float16(tmp_path: Path, dtype: str, scale: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SMALL.replace("DTYPE", dtype).replace("SCALE", scale))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("G305" in found(seen)) is fault, [step.gradient_norm for step in seen.steps[:4]]
