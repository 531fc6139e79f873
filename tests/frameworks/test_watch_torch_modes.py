"""Training and evaluation mode, steps from within the backward pass, and steps in turn: what is meant, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("torch")

HEAD = """
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, :3].sum(1) > 0).long()
train = DataLoader(TensorDataset(x[:128], y[:128]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[128:], y[128:]), batch_size=16)
"""

NORM = """
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16, track_running_stats=KEEPS), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), 0.02)
for epoch in range(6):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    with torch.no_grad():
        print(sum(int((model(xb).argmax(1) == yb).sum()) for xb, yb in test))
"""


@pytest.mark.parametrize(("keeps", "codes"), [("True", ["E502"]), ("False", [])])
def test_batch_normalisation_without_statistics_has_but_one_mode(keeps: str, codes: list[str], tmp_path: Path) -> None:
    assert found(watch(tmp_path, HEAD + NORM.replace("KEEPS", keeps), steps=30)) == codes


OVERRIDDEN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 2))
    def train(self, mode=True):
        super().train(MODE)
        return self
    def forward(self, x):
        return self.body(x)
""" + NORM.replace("model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16, track_running_stats=KEEPS), nn.ReLU(), nn.Linear(16, 2))",
                   "model = Net()").replace("    with torch", "    model.eval()\n    with torch") + "    model.train()\n"


@pytest.mark.parametrize(("mode", "codes"), [("", ["E502"]), ("mode", [])])
def test_a_module_that_forgets_the_mode(tmp_path: Path, mode: str, codes: list[str]) -> None:
    seen = watch(tmp_path, HEAD + OVERRIDDEN.replace("MODE", mode), steps=30)
    assert found(seen) == codes
    told = next((result.finding for result in walk(seen) if result.code == "E502"), None)
    assert told is None or told.site.source == "super().train()"


STAGES = """
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), 0.01)


def accuracy():
    model.eval()
    with torch.no_grad():
        return sum(int((model(xb).argmax(1) == yb).sum()) for xb, yb in test)


for epoch in range(3):
    MODE
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    print(accuracy())

optimizer = torch.optim.SGD(model.parameters(), 0.01)
for epoch in range(3):
    LATER
    for xb, yb in train:
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        optimizer.zero_grad()
    print(accuracy())
"""


@pytest.mark.parametrize(("mode", "later", "wrong"), [
    ("model.train()", "model.eval()", False),  # statistics that the first stage left are kept
    ("model.train()", "pass", True),  # left so by the evaluation
    ("model.eval()", "model.eval()", True),  # never in training mode
])
def test_evaluation_mode_that_a_trained_model_is_put_into_for_its_training(mode: str, later: str, wrong: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + STAGES.replace("MODE", mode).replace("LATER", later), steps=60)
    assert (seen.evaluation.training_in_eval_mode > 0) is wrong


def test_a_class_with_an_eval_of_its_own(tmp_path: Path) -> None:
    own = STAGES.replace("model = nn.Sequential(", """class Net(nn.Sequential):
    def eval(self):
        return self.train(False)


model = Net(""")
    seen = watch(tmp_path, HEAD + own.replace("MODE", "model.eval()").replace("LATER", "pass"), steps=30)
    assert "eval_mode" in seen.sites


FUSED = """
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
own = {weight: torch.optim.Adam([weight], 0.01) for weight in model.parameters()}


def take(weight):
    own[weight].step()
    own[weight].zero_grad()


for weight in own:
    weight.register_post_accumulate_grad_hook(take)
for epoch in range(4):
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
    print(loss.item())
"""


def test_steps_from_within_the_backward_pass(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + FUSED, steps=30)
    assert seen.model is not None
    assert [known.name for known in seen.model.parameters if known.used and known.gradient_norm is None] == []
    assert found(seen) == []


TURNS = """
maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
judge = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
make = torch.optim.Adam(maker.parameters(), 1e-3)
tell = torch.optim.Adam(judge.parameters(), 1e-3)
for epoch in range(4):
    for xb, yb in train:
        made = maker(torch.randn(len(xb), 4))
        loss = F.softplus(-judge(made)).mean()
        make.zero_grad()
        loss.backward()
        make.step()
        loss = F.softplus(-judge(xb)).mean() + F.softplus(judge(made.detach())).mean()
        ZERO
        loss.backward()
        tell.step()
"""


@pytest.mark.parametrize(("zero", "source"), [
    ("tell.zero_grad()", None), ("judge.zero_grad()", None), ("make.zero_grad()", "make.zero_grad()"), ("pass", "tell.step()")])
def test_one_of_two_optimizers_that_nobody_zeroes(zero: str, source: str | None, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + TURNS.replace("ZERO", zero), steps=30)
    assert ("S403" in found(seen)) is (source is not None)
    site = seen.unzeroed.site if seen.unzeroed is not None else None
    assert (site.source if site is not None else None) == source


TOGETHER = """
encoder, decoder = nn.Linear(8, 16), nn.Linear(16, 2)
first = torch.optim.Adam(encoder.parameters(), 1e-2)
second = torch.optim.Adam(decoder.parameters(), 1e-2)
for epoch in range(4):
    for xb, yb in train:
        first.zero_grad()
        second.zero_grad()
        hidden = torch.relu(encoder(xb))
        loss = F.cross_entropy(decoder(HIDDEN), yb)
        loss.backward()
        first.step()
        second.step()
"""


@pytest.mark.parametrize(("hidden", "codes"), [("hidden", []), ("hidden.detach()", ["G302"])])
def test_two_optimizers_of_one_loss_that_reaches_one_of_them(hidden: str, codes: list[str], tmp_path: Path) -> None:
    assert found(watch(tmp_path, HEAD + TOGETHER.replace("HIDDEN", hidden), steps=30)) == codes
