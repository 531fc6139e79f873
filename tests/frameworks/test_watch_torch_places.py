"""Where the watcher says that things were done: the lines that a finding points at."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_torch import line_of
from tests.frameworks.watching import HEAD, LOOP, watch

pytest.importorskip("torch")

EPOCHS = """
for epoch in range(3):
    for xb, yb in DataLoader(TensorDataset(X[:160], y[:160]), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
"""
WIDTH = """
import torch, torch.nn as nn, torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(WIDE, 2)
    def forward(self, x):
        x = F.relu(self.conv(x))
        x = FLAT
        return self.fc(x)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = F.cross_entropy(model(torch.randn(8, 1, 6, 6)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("name", "change", "part"), [
    ("freeze", ("model = Net()", "model = Net()\nfor p in model.a.parameters():\n    p.requires_grad = False"), "p.requires_grad"),
    ("freeze", ("model = Net()", "model = Net()\nmodel.a.requires_grad_(False)"), "model.a.requires_grad_"),
    ("eval_mode", ("zzz", ""), "model.eval()"),
    ("output", ("return self.b(self.drop(torch.relu(self.a(x))))", "return F.softmax(self.b(torch.relu(self.a(x))), -1)"), "F.softmax"),
    ("output", ("model = Net()", "model = nn.Sequential(\n    nn.Linear(10, 2),\n    nn.Softmax(-1))"), "nn.Softmax(-1)"),
    ("output", ("self.b = nn.Linear(32, 2)", "self.b = nn.Sequential(nn.Linear(32, 2), nn.Softmax(-1))"), "self.b = nn.Sequential("),
    ("unregistered", ("self.b = nn.Linear(32, 2)", "self.b = nn.Linear(32, 2)\n        self.more = [nn.Linear(10, 10)]"), "self.more ="),
    ("bad_input", ("X = torch.randn(400, 10)", "X = torch.randn(400, 10)\nX[:, 9] = 1.0\nX = (X - X.mean(0)) / X.std(0)"), "X.std(0)"),
    ("carried", ("", ""), "total = total + loss"),
])
def test_places(tmp_path: Path, name: str, change: tuple[str, str], part: str) -> None:
    loop = LOOP
    if name == "carried":
        loop = "\ntotal = 0\n" + LOOP.replace("        optimizer.step()", "        optimizer.step()\n        total = total + loss")
    text = HEAD.replace(*change) + loop if change[0] else HEAD + loop
    if name == "unregistered":
        text = text.replace("self.a(x)", "self.a(self.more[0](x))")
    seen = watch(tmp_path, text)
    assert seen.sites[name].line == line_of(text, part)
    assert (seen.memory.losses_kept or 0) < 5 or name == "carried"


def test_numbers_for_a_log_are_no_chain(tmp_path: Path) -> None:
    logs = "        optimizer.step()\n        shown = (loss * len(xb)).item()\n        mean = loss / 2"
    loop = LOOP.replace("        optimizer.step()", logs)
    seen = watch(tmp_path, HEAD + loop)
    assert (seen.memory.losses_kept or 0) < 5


def test_a_loader_made_anew_in_every_epoch_is_one_loader(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + EPOCHS, steps=24)
    assert [loader.role for loader in seen.loaders] == ["train"]
    assert len(seen.steps) == 24
    assert (seen.evaluation.forwards, seen.evaluation.training_forwards) == (0, 24)


def test_gradients_that_were_zeroed_before_the_step_had_come(tmp_path: Path) -> None:
    loop = LOOP.replace("        optimizer.zero_grad()\n", "").replace("loss.backward()", "loss.backward()\n        optimizer.zero_grad()")
    seen = watch(tmp_path, HEAD + loop)
    assert seen.model is not None
    assert all(weight.gradient_norm for weight in seen.model.parameters)
    assert {step.gradient_norm for step in seen.steps} == {0.0}


def test_an_optimizer_without_weights_shows_the_layers_that_were_hidden(tmp_path: Path) -> None:
    head = HEAD.replace("self.a = nn.Linear(10, 32)", "self.all = [nn.Linear(10, 32)]")
    head = head.replace("self.b = nn.Linear(32, 2)", "self.b = None")
    seen = watch(tmp_path, head)
    assert seen.exception is not None
    assert seen.model is not None
    assert seen.model.unregistered == ["Linear.weight (32, 10)", "Linear.bias (32,)"]
    assert seen.sites["unregistered"].line == line_of(head, "self.all =")


SHARED = """
def step(batch):
    xb, yb = batch
    return F.cross_entropy(model(xb), yb)
def validate():
    with torch.no_grad():
        return sum(step(batch).item() for batch in test)
for epoch in range(3):
    for batch in train:
        optimizer.zero_grad()
        step(batch).backward()
        optimizer.step()
    validate()
"""


def test_an_evaluation_is_not_placed_in_a_helper_that_training_shares(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + SHARED)
    found = next(result.finding for result in walk(seen) if result.code == "E502")
    assert found is not None
    assert found.site is not None
    assert "for batch in test" in found.site.source


SCHEDULE = """
def made(model, {parameter}):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    return optimizer, torch.optim.lr_scheduler.StepLR(optimizer, {given}, gamma=0.1)
epochs = 3
optimizer, schedule = made(model, epochs)
for epoch in range(epochs):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        schedule.step()
"""


@pytest.mark.parametrize(("parameter", "given", "part"), [
    ("steps", "steps", "made(model, epochs)"), ("steps", "5", "StepLR("), ("steps", "step_size=steps", "made(model, epochs)"),
    ("*, steps=3", "steps", "made(model)")])
def test_a_schedule_is_placed_where_its_length_comes_from(tmp_path: Path, parameter: str, given: str, part: str) -> None:
    text = HEAD + SCHEDULE.format(parameter=parameter, given=given)
    text = text.replace("made(model, epochs)", "made(model)") if parameter.startswith("*") else text
    assert part in watch(tmp_path, text).sites["schedule_made"].source


def test_a_tensor_that_is_no_parameter(tmp_path: Path) -> None:
    head = HEAD.replace("self.b = nn.Linear(32, 2)", "self.b = nn.Linear(32, 2)\n        self.shift = torch.zeros(32).requires_grad_()")
    seen = watch(tmp_path, head.replace("self.a(x)", "self.a(x) + self.shift") + LOOP)
    assert seen.model is not None
    assert seen.model.unregistered == ["Net.shift (32,)"]
    assert seen.sites["unregistered"].line == line_of(head, "self.shift =")


def test_where_a_collator_makes_the_labels(tmp_path: Path) -> None:
    collate = """
def collate(rows):
    inputs = torch.stack([row[0] for row in rows])
    labels = torch.stack([row[1] for row in rows])
    return inputs, labels
"""
    text = (HEAD + LOOP).replace("train = ", collate + "train = ").replace("shuffle=True)", "shuffle=True, collate_fn=collate)")
    seen = watch(tmp_path, text)
    assert seen.sites["collator"].line == line_of(text, "def collate")
    assert seen.sites["collator.labels"].line == line_of(text, "labels = torch.stack")


RATES = """
def shape(step):
    warm = 10
    if step < warm:
        return 1e-3 * (step + 1) / warm
    return 1e-3
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, shape)
for epoch in range(2):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        schedule.step()
"""


def test_a_function_that_gives_rates_for_factors(tmp_path: Path) -> None:
    assert watch(tmp_path, HEAD + RATES).sites["schedule_shape"].source.startswith("return 1e-3 * (step + 1)")


FREEZING = """
def switch(module, on, name=""):
    for p in module.parameters():
        p.requires_grad = on
def freeze(module, loudly=False):
    for p in module.parameters():
        p.requires_grad_(False)
CALL
"""


@pytest.mark.parametrize(("call", "part"), [("switch(model.a, False)", "switch(model.a, False)"), ("switch(model.a, on=1 > 2)", "on=1 > 2"),
                                            ("freeze(model.a)", "p.requires_grad_(False)")])
def test_a_helper_that_is_told_to_freeze_is_placed_where_it_is_told(tmp_path: Path, call: str, part: str) -> None:
    text = HEAD + FREEZING.replace("CALL", call) + LOOP
    assert watch(tmp_path, text).sites["freeze"].line == line_of(text, part)


@pytest.mark.parametrize(("wide", "flat", "line"), [("100", "x.flatten(1)", "self.fc = nn.Linear"), ("64", "x * 1", "return self.fc(x)")])
def test_a_layer_of_another_width_and_axes_that_are_not_flattened(tmp_path: Path, wide: str, flat: str, line: str) -> None:
    seen = watch(tmp_path, WIDTH.replace("WIDE", wide).replace("FLAT", flat))
    finding = next(result.finding for result in walk(seen) if result.code == "F103")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source.startswith(line)
