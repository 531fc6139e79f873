"""Where another training of a script begins, and watching that one in a run of its own."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from harness.checks.observation import Observation
from harness.checks.training_facts import FurtherFacts
from harness.diagnosis import later
from harness.frameworks.watch.session import Enough, WatchBudget, WatchSession
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import HEAD, found, watch
from tests.test_cli import call

pytest.importorskip("torch")

FIT = """
def fit(model, optimizer, rows, wanted, epochs):
    for epoch in range(epochs):
        for at in range(0, 320, 16):
            loss = F.cross_entropy(model(rows[at:at + 16]), wanted[at:at + 16])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
def new():
    return torch.optim.Adam(model.parameters(), lr=1e-2)
"""


def further(folder: Path, text: str) -> FurtherFacts | None:
    return watch(folder, HEAD + FIT + text).further


def line_of(text: str) -> int:
    return next(number for number, line in enumerate((HEAD + FIT + AFTER).splitlines(), 1) if text in line)


AFTER = """
fit(model, new(), X, y, 3)
model.b = nn.Linear(32, 2)
fit(model, new(), X, y, 3)
"""


def test_another_line(tmp_path: Path) -> None:
    begun = further(tmp_path, AFTER)
    assert begun is not None
    assert begun.site is not None
    first = line_of("fit(model, new(), X, y, 3)")
    assert (begun.line, begun.turn, begun.site.line) == (first, 0, first + 2)


FOLDS = """
for fold in range(3):
    model = Net()
    fit(model, new(), X, y, 2)
"""
STAGES = """
for stage in range(2):
    for weight in model.a.parameters():
        weight.requires_grad = stage > 0
    optimizer = torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=1e-2)
    fit(model, optimizer, X, y, 3)
"""

def test_folds_repeat_and_stages_do_not(tmp_path: Path) -> None:
    assert further(tmp_path, FOLDS) is None
    (tmp_path / "stages").mkdir()
    begun = further(tmp_path / "stages", STAGES)
    assert begun is not None
    assert begun.turn == 2
    assert (HEAD + FIT + STAGES).splitlines()[begun.line - 1].startswith("for stage")


TRIES = """
def run(rate):
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
for fold in range(5):
    run(RATE)
"""
IN_KERAS = """
import numpy as np
import keras
keras.utils.set_random_seed(0)
x = np.random.randn(640, 10).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int64")
def run(rate):
    model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
    model.compile(optimizer=keras.optimizers.SGD(rate, momentum=0.9), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, batch_size=32, epochs=1, verbose=0)
for fold in range(5):
    run(RATE)
"""


@pytest.mark.parametrize("framework", ["torch", "keras"])
@pytest.mark.parametrize(("rate", "codes"), [("60.0", ["S401"]), ("0.1", [])])
def test_the_first_of_folds_that_are_short_is_judged_by_itself(tmp_path: Path, framework: str, rate: str, codes: list[str]) -> None:
    pytest.importorskip(framework)
    text = (HEAD + TRIES if framework == "torch" else IN_KERAS).replace("RATE", rate)
    seen = (watch if framework == "torch" else watch_keras)(tmp_path, text)
    assert found(seen) == codes, seen.probes
    assert len(seen.steps) == 20
    assert seen.models_stepped == 1


GAN = """
one, other = nn.Linear(10, 10), nn.Linear(10, 10)
first, second = torch.optim.SGD(one.parameters(), lr=1e-2), torch.optim.SGD(other.parameters(), lr=1e-2)
for number, (xb, _) in enumerate(list(train) * 3):
    for optimizer, loss in [(first, (one(xb) - other(xb).detach()).pow(2).mean()), (second, -(one(xb).detach() - other(xb)).pow(2).mean())]:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_two_that_take_turns_are_no_folds(tmp_path: Path) -> None:
    assert watch(tmp_path, HEAD + GAN).models_stepped == 2


def test_optimizers_side_by_side(tmp_path: Path) -> None:
    both = """
    one, other = torch.optim.Adam(model.a.parameters(), lr=1e-2), torch.optim.Adam(model.b.parameters(), lr=1e-2)
    for epoch in range(3):
        for at in range(0, 320, 16):
            loss = F.cross_entropy(model(X[at:at + 16]), y[at:at + 16])
            one.zero_grad(), other.zero_grad()
            loss.backward()
            one.step(), other.step()
    """
    assert further(tmp_path, both.replace("\n    ", "\n")) is None


def test_where_the_mark_goes() -> None:
    text = "a = 1\nif a:\n    b = (a,\n         2)\n    c = 3\nfor d in range(2):\n    e = d\n"

    def begun(line: int, turn: int = 0) -> list[object]:
        tree = ast.parse(text)
        later.mark(tree, FurtherFacts(line=line, turn=turn))
        names: dict[str, object] = {}
        seen: list[object] = []
        names[later.NAME] = later.on_turn(turn, lambda: seen.append({name: names[name] for name in "abcde" if name in names}))
        exec(compile(tree, "script.py", "exec"), names)
        return seen

    assert begun(1) == [{"a": 1}]
    assert begun(3) == [{"a": 1, "b": (1, 2)}]
    assert begun(6, turn=2) == [{"a": 1, "b": (1, 2), "c": 3, "d": 1, "e": 0}]
    assert begun(6, turn=3) == []


TRANSFER = """
fit(model, torch.optim.Adam(model.parameters(), lr=1e-2), X, y, 3)
print((model(X[320:]).argmax(1) == y[320:]).float().mean())
class Side(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.down = SMALL
    def forward(self, x):
        return self.base(x) + x @ self.down
model.a = Side(model.a)
for name, weight in model.named_parameters():
    weight.requires_grad = "base" not in name
fit(model, torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=1e-2), X, (X[:, 2] > 0).long(), 6)
print((model(X[320:]).argmax(1) == (X[320:, 2] > 0)).float().mean())
"""


def test_a_fault_of_the_second_training(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + FIT + TRANSFER.replace("SMALL", "torch.zeros(10, 32, requires_grad=True)"))
    assert call("diagnose", "--json", str(path)) == 1
    shown = capfd.readouterr()
    record = json.loads(shown.out)
    assert record["first"]["code"] == "G303"
    assert record["first"]["finding"]["site"]["source"] == "self.down = torch.zeros(10, 32, requires_grad=True)"
    assert record["training"]["source"].startswith("fit(model, torch.optim.Adam([weight")
    assert "watching the training at line" in shown.err
    assert call("diagnose", str(path)) == 1
    assert "in another training than the script's first" in " ".join(capfd.readouterr().out.split())
    path.write_text(HEAD + FIT + TRANSFER.replace("SMALL", "nn.Parameter(torch.zeros(10, 32))"))
    assert call("diagnose", "--json", str(path)) == 0
    assert json.loads(capfd.readouterr().out)["training"] is None


def test_a_training_that_does_not_begin_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
import pathlib, sys
fit(model, new(), X, y, 3)
if pathlib.Path("done").exists():
    sys.exit()
pathlib.Path("done").touch()
model.b = nn.Linear(32, 2)
fit(model, new(), X, y, 3)
"""
    path = tmp_path / "train.py"
    path.write_text(HEAD + FIT + text.replace('"done"', repr(str(tmp_path / "done"))))
    assert call("diagnose", "--json", str(path)) == 0
    record = json.loads(capfd.readouterr().out)
    assert record["verdict"] == "clean"
    assert "was not watched" in record["reason"]


def test_nothing_further_in_a_single_training(tmp_path: Path) -> None:
    seen: Observation = watch(tmp_path, HEAD + FIT + "\nfit(model, new(), X, y, 5)\n")
    assert seen.further is None


ADAPT = """
class Side(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.down, self.up = nn.Parameter(0.1 * torch.randn(32, 4)), nn.Parameter(torch.zeros(4, 2))
    def forward(self, x):
        return self.base(x) + x @ self.down @ self.up
model.b = HEAD
for name, weight in model.named_parameters():
    weight.requires_grad = "down" in name or "up" in name
fit(model, torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=1e-2), X, (X[:, 2] > 0).long(), 3)
"""
ASLEEP = """
class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.n, self.b = nn.Linear(10, 32), nn.BatchNorm1d(32), nn.Linear(32, 2)
    def forward(self, x):
        return self.b(torch.relu(self.n(self.a(x))))
"""
KEPT = """
optimizer = new()
for epoch in range(3):
    model.eval()
    for at in range(0, 320, 16):
        loss = F.cross_entropy(model(X[at:at + 16]), y[at:at + 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def watched_late(folder: Path, before: str, after: str) -> list[str]:
    """What is found in the second part of a script where the first ran unwatched."""
    names: dict[str, object] = {}
    exec(compile(before, str(folder / "before.py"), "exec"), names)
    path = folder / "train.py"
    path.write_text(after)
    session = WatchSession(path, WatchBudget(steps=24, patient_steps=0, onward_seconds=0.0, probe_seconds=1.5))
    session.attach(late=True)
    error = None
    try:
        exec(compile(after, str(path), "exec"), names)
    except Enough as enough:
        error = enough
    return found(session.finish(error))


def test_a_head_that_was_trained_before(tmp_path: Path) -> None:
    before = HEAD + FIT + "fit(model, new(), X, y, 3)\n"
    assert watched_late(tmp_path, before, ADAPT.replace("HEAD", "Side(model.b)")) == []
    (tmp_path / "fresh").mkdir()
    assert watched_late(tmp_path / "fresh", before, ADAPT.replace("HEAD", "Side(nn.Linear(32, 2))")) == ["G303"]


def test_norms_that_keep_what_they_have_learnt(tmp_path: Path) -> None:
    before = HEAD + FIT + ASLEEP + "model = Normed()\nfit(model, new(), X, y, 3)\n"
    assert watched_late(tmp_path, before, KEPT) == []
    (tmp_path / "fresh").mkdir()
    assert watched_late(tmp_path / "fresh", before, "model = Normed()\n" + KEPT) == ["E503"]


LOW_RANK = """
class LowRank(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.down, self.up = nn.Linear(10, 4, bias=False), nn.Linear(4, 32, bias=False)
        nn.init.zeros_(self.up.weight)
    def forward(self, x):
        return self.base(x) + self.up(self.down(x))
model.a = LowRank(model.a)
for name, weight in model.named_parameters():
    weight.requires_grad = name.startswith(("b.", "LEARNS"))
fit(model, torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=1e-2), X, (X[:, 2] > 0).long(), 3)
"""


def test_adapters_that_a_filter_by_name_leaves_frozen(tmp_path: Path) -> None:
    before = HEAD + FIT + "fit(model, new(), X, y, 3)\n"
    assert watched_late(tmp_path, before, LOW_RANK.replace("LEARNS", "lora_")) == ["G303"]
    (tmp_path / "right").mkdir()
    assert watched_late(tmp_path / "right", before, LOW_RANK.replace('"LEARNS"', '"a.down", "a.up"')) == []
