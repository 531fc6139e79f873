"""What stands beside what in PyTorch scripts: answers and the inputs they were given for, outputs and targets, optimizers and weights."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

import torch

from harness.checks import pairing
from harness.checks.base import walk
from harness.frameworks.watch.torch_cached import Cached
from tests.frameworks.watching import HEAD, LOOP, found, watch

STUDENT = HEAD + LOOP + """
@torch.no_grad()
def collect(loader):
    model.eval()
    return torch.cat([model(xb) for xb, _ in loader])
known = collect(DataLoader(TensorDataset(X[:320], y[:320]), batch_size=16, shuffle=SHUFFLE))
pairs = DataLoader(TensorDataset(X[:320], known), batch_size=16, shuffle=True)
student = nn.Linear(10, 2)
other = torch.optim.Adam(student.parameters(), lr=1e-2)
for epoch in range(3):
    for xb, wanted in pairs:
        other.zero_grad()
        F.mse_loss(student(xb), wanted).backward()
        other.step()
"""
PAIRS = HEAD + """
twin = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(twin.parameters(), lr=1e-2)
for epoch in range(4):
    for xb, yb in train:
        distance = DISTANCE
        same = SAME
        loss = (same * distance.pow(2) + (1 - same) * torch.clamp(2 - distance, min=0).pow(2)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
GAN = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
G, D = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)), nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
first, second = torch.optim.Adam(D.parameters(), 1e-3), torch.optim.Adam(G.parameters(), 1e-3)
def sample(n):
    return G(torch.randn(n, 4))CUT
for step in range(60):
    real = torch.randn(32, 2) + 3
    loss = F.softplus(-D(real)).mean() + F.softplus(D(sample(32).detach())).mean()
    first.zero_grad()
    loss.backward()
    first.step()
    loss = F.softplus(-D(sample(32))).mean()
    second.zero_grad()
    loss.backward()
    second.step()
"""
ONE_FAKE = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
G, D = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)), nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
second, first = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
for step in range(60):
    fake = G(torch.randn(32, 4))CUT
    loss = F.softplus(-D(torch.randn(32, 2) + 3)).mean() + F.softplus(D(FAKE)).mean()
    first.zero_grad()
    loss.backward()
    first.step()
    loss = F.softplus(-D(fake)).mean()
    second.zero_grad()
    loss.backward()
    second.step()
"""
RESUME = HEAD + """
class Job:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
    def resume(self, state):
        MODEL
        self.model.load_state_dict(state)
    def fit(self, epochs):
        for epoch in range(epochs):
            for xb, yb in train:
                self.optimizer.zero_grad()
                F.cross_entropy(self.model(xb), yb).backward()
                self.optimizer.step()
one = Job()
one.fit(1)
two = Job()
two.resume(one.model.state_dict())
two.fit(6)
"""
WARM = HEAD + """
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 500))
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        INSIDE
    OUTSIDE
"""
MIXED = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(320, 6, 3)
y = (X.mean((1, 2)) > 0).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside, self.out = nn.Linear(3, 8), nn.Linear(48, 2)
    def forward(self, x):
        h = torch.relu(self.inside(x.transpose(0, 1)))
        return self.out(HIDDEN.reshape(len(x), -1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for rows in torch.randperm(320).split(16):
        optimizer.zero_grad()
        F.cross_entropy(model(X[rows]), y[rows]).backward()
        optimizer.step()
"""


@pytest.mark.parametrize("shuffle", [True, False])
def test_answers_that_come_back_beside_other_inputs(tmp_path: Path, *, shuffle: bool) -> None:
    seen = watch(tmp_path, STUDENT.replace("SHUFFLE", str(shuffle)), seconds=60)
    assert (found(seen) == ["D106"]) is shuffle, found(seen)
    if shuffle:
        assert seen.apart is not None
        assert seen.apart.answered
        assert seen.apart.same_rows < 0.5 * seen.apart.rows
        assert seen.apart.inputs is not None
        assert seen.apart.inputs.source.startswith("pairs = ")
        assert any("known answer" in line for result in walk(seen) if result.finding for line in result.finding.evidence)


@pytest.mark.parametrize(("labels", "parted"), [("answers", True), ("stars", False)])
def test_a_label_that_one_answer_equals_by_chance(labels: str, *, parted: bool) -> None:
    inputs, stars = torch.arange(64.0)[:, None], torch.full((64,), 3.5)
    answers = torch.rand(64)
    answers[5] = 3.5
    seen = SimpleNamespace(apart=None)
    cached = Cached(SimpleNamespace(seen=seen, losses=SimpleNamespace(output_of=lambda calls: calls[0].output)))
    cached.answered(SimpleNamespace(grad=False, args=(inputs,), kwargs={}, output=answers))
    wanted = answers if labels == "answers" else stars
    cached.came(SimpleNamespace(facts=SimpleNamespace(site=None)), (inputs.flip(0), wanted))
    assert (seen.apart is not None) is parted


@pytest.mark.parametrize(("distance", "same", "fault"), [
    ("F.pairwise_distance(twin(xb), twin(xb.flip(0)), keepdim=True)", "(yb == yb.flip(0)).float()", True),
    ("F.pairwise_distance(twin(xb), twin(xb.flip(0)))", "(yb == yb.flip(0)).float()", False),
    ("F.pairwise_distance(twin(xb), twin(xb.flip(0)), keepdim=True)", "(yb == yb.flip(0)).float()[:, None]", False),
    ("F.pairwise_distance(twin(xb), twin(xb.flip(0))).unsqueeze(1)", "(yb == yb.flip(0)).float()", False)])
def test_a_product_for_every_pair_of_rows(tmp_path: Path, distance: str, same: str, *, fault: bool) -> None:
    seen = watch(tmp_path, PAIRS.replace("DISTANCE", distance).replace("SAME", same))
    assert (found(seen) == ["L203"]) is fault, found(seen)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source.startswith("loss = (same * distance")


@pytest.mark.parametrize("cut", [".detach()", ""])
def test_an_optimizer_whose_weights_no_loss_reaches(tmp_path: Path, cut: str) -> None:
    seen = watch(tmp_path, GAN.replace("CUT", cut))
    assert (found(seen) == ["G302"]) is bool(cut), found(seen)
    assert (seen.idle is not None) is bool(cut)
    if seen.idle is not None and seen.idle.site is not None:
        assert seen.idle.site.source == "return G(torch.randn(n, 4)).detach()"


@pytest.mark.parametrize(("cut", "fake"), [(".detach()", "fake"), ("", "fake.detach()")])
def test_one_answer_that_is_cut_off_for_both_losses(tmp_path: Path, cut: str, fake: str) -> None:
    seen = watch(tmp_path, ONE_FAKE.replace("CUT", cut).replace("FAKE", fake))
    assert (found(seen) == ["G302"]) is bool(cut), found(seen)
    if cut:
        assert seen.idle is not None
        assert seen.idle.site is not None
        assert seen.idle.site.source == "fake = G(torch.randn(32, 4)).detach()"


@pytest.mark.parametrize(("model", "fault"), [("self.model = Net()", True), ("pass", False)])
def test_a_job_that_goes_on_with_a_new_model(tmp_path: Path, model: str, *, fault: bool) -> None:
    seen = watch(tmp_path, RESUME.replace("        MODEL\n", f"        {model}\n"), steps=60)
    assert (found(seen) == ["S405"]) is fault, found(seen)
    if fault:
        assert seen.later is not None
        assert seen.later.site is not None
        assert seen.later.site.source == "self.model = Net()"
        assert seen.later.lacking == 4


@pytest.mark.parametrize("inside", [True, False])
def test_a_warm_up_of_steps_that_is_stepped_once_an_epoch(tmp_path: Path, *, inside: bool) -> None:
    lines = ("schedule.step()", "pass") if inside else ("pass", "schedule.step()")
    seen = watch(tmp_path, WARM.replace("INSIDE", lines[0]).replace("OUTSIDE", lines[1]), steps=40, onward_seconds=20.0)
    assert (found(seen) == ["S402"]) is not inside, found(seen)
    if not inside:
        assert seen.optimizer is not None
        assert seen.optimizer.climb is not None
        assert 240 < seen.optimizer.climb < 260
        assert any("warm-up" in result.finding.message for result in walk(seen) if result.finding)


@pytest.mark.parametrize(("hidden", "fault"), [("h", True), ("h.transpose(0, 1)", False)])
def test_rows_that_mix_where_there_is_no_loader(tmp_path: Path, hidden: str, *, fault: bool) -> None:
    seen = watch(tmp_path, MIXED.replace("HIDDEN", hidden), steps=60)
    assert found(seen) == (["F111", "F105"] if fault else [])


@pytest.mark.parametrize("mode", ["model.eval()", "pass"])
def test_rows_that_are_scored_by_hand_between_epochs(tmp_path: Path, mode: str) -> None:
    text = HEAD + LOOP.replace("    model.eval()\n", f"    {mode}\n").replace(
        "sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test)",
        "sum((model(X[320:][k:k + 40]).argmax(1) == y[320:][k:k + 40]).sum().item() for k in (0, 40))")
    seen = watch(tmp_path, text, onward_seconds=20.0)
    assert (found(seen) == ["E502"]) is (mode == "pass"), found(seen)


def test_a_pass_without_gradients_over_the_training_loader_is_whole(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + LOOP + """
with torch.no_grad():
    known = torch.cat([model(xb) for xb, _ in train])
assert len(known) == 320
""")
    assert seen.truncated_at is not None
    assert seen.exception is None

LEARNT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0)
X = torch.randn(1600, 8)
Y = TARGET
class Rows(Dataset):
    def __init__(self, part):
        self.x = X[part]
        self.y = WANTED
    def __len__(self):
        return len(self.y)
    def __getitem__(self, k):
        return self.x[k], self.y[k]
train, test = DataLoader(Rows(slice(0, 800)), 32, shuffle=True), DataLoader(Rows(slice(800, 1600)), 100)
model = nn.Sequential(nn.Linear(8, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, WIDTH))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for epoch in range(40):
    for xb, yb in train:
        optimizer.zero_grad()
        LOSS.backward()
        optimizer.step()
    with torch.no_grad():
        answers = [model(xb) for xb, _ in test]
"""


@pytest.mark.parametrize(("target", "width", "loss"), [
    ("X[:, 0] + X[:, 1] + 0.1 * torch.randn(1600)", "1", "F.mse_loss(model(xb).squeeze(1), yb)"),
    ("(X[:, 0] + X[:, 1] > 0).long()", "2", "F.cross_entropy(model(xb), yb)")])
@pytest.mark.parametrize(("wanted", "fault"), [("Y[part][torch.randperm(800)]", True), ("Y[part]", False)])
def test_what_is_learnt_goes_no_further(tmp_path: Path, target: str, width: str, loss: str, wanted: str, *, fault: bool) -> None:
    text = LEARNT.replace("TARGET", target).replace("WIDTH", width).replace("LOSS", loss).replace("WANTED", wanted)
    seen = watch(tmp_path, text, seconds=60, onward_seconds=40.0)
    relation = seen.evaluation.relation
    assert relation is not None
    assert relation.rows == 800
    assert relation.trained > 0.8
    assert (found(seen) == ["D106"]) is fault, found(seen)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == f"self.y = {wanted}"


def test_one_answer_for_all_others_tells_nothing_of_their_labels(tmp_path: Path) -> None:
    text = LEARNT.replace("TARGET", "(X[:, 0] + X[:, 1] > 0).long()").replace("WIDTH", "2")
    text = text.replace("LOSS", "F.cross_entropy(model(xb), yb)").replace("WANTED", "Y[part][torch.randperm(800)]")
    text = text.replace("[model(xb) for xb", "[model(100 + 0 * xb) for xb")
    seen = watch(tmp_path, text, seconds=60, onward_seconds=40.0)
    assert seen.evaluation.relation is not None
    assert seen.evaluation.relation.answered == 1.0
    assert pairing.unrelated(seen) is None


@pytest.mark.parametrize(("kind", "factor", "codes"), [
    ("MultiplicativeLR", "0.9 ** turn", ["S402"]), ("MultiplicativeLR", "0.95", []), ("LambdaLR", "0.9 ** turn", []),
    ("MultiplicativeLR", "0.999 ** turn", [])])
def test_factors_that_pile_up(tmp_path: Path, kind: str, factor: str, codes: list[str]) -> None:
    made = WARM.replace("LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 500))", f"{kind}(optimizer, lambda turn: {factor})")
    seen = watch(tmp_path, made.replace("INSIDE", "pass").replace("OUTSIDE", "schedule.step()"), seconds=60)
    assert found(seen) == codes, (seen.optimizer, found(seen))
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert "MultiplicativeLR" in finding.site.source


@pytest.mark.parametrize(("rows", "steps", "drop", "fault"), [
    ("330", "len(X) // 16", "False", True), ("330", "len(train)", "False", False), ("320", "len(X) // 16", "False", False),
    ("330", "len(X) // 16", "True", False)])
def test_a_cycle_of_whole_batches(tmp_path: Path, rows: str, steps: str, drop: str, *, fault: bool) -> None:
    made = WARM.replace("schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 500))", f"""
X, y = X[:{rows}], y[:{rows}]
train = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True, drop_last={drop})
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, epochs=4, steps_per_epoch={steps})""")
    seen = watch(tmp_path, made.replace("INSIDE", "schedule.step()").replace("OUTSIDE", "pass"), steps=30, seconds=60, onward_seconds=0.0)
    assert (found(seen)[:1] == ["S402"]) is fault, (found(seen), seen.optimizer)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "made for 80 steps, 4 epochs of 20 whole batches" in finding.message
        assert finding.site is not None
        assert "OneCycleLR" in finding.site.source


@pytest.mark.parametrize(("steps", "inside", "outside", "fault"), [
    ("4 * len(train)", "pass", "schedule.step()", True), ("4 * len(train)", "schedule.step()", "pass", False),
    ("4", "pass", "schedule.step()", False)])
def test_a_cycle_that_is_stepped_once_an_epoch(tmp_path: Path, steps: str, inside: str, outside: str, *, fault: bool) -> None:
    made = WARM.replace("schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 500))", f"""
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps={steps})""")
    seen = watch(tmp_path, made.replace("INSIDE", inside).replace("OUTSIDE", outside), steps=200, seconds=60, onward_seconds=0.0)
    assert (found(seen)[:1] == ["S402"]) is fault, (found(seen), seen.optimizer)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "is stepped once in 20 of them" in finding.message
        assert finding.site is not None
        assert "schedule.step()" in finding.site.source
