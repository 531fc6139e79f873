"""Quiet traps of PyTorch: weights that are put back and are not, dropout that is not told of the mode, scores of another order."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from harness.checks.base import walk
from harness.diagnosis.silence import unjudged
from tests.frameworks.watching import HEAD, LOOP, found, watch

KEEP = HEAD + """
import copy
best = None
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    if epoch == 1:
        best = TAKEN
LOADED
"""
DROP = HEAD.replace("self.drop(torch.relu(self.a(x)))", "DROPPED(torch.relu(self.a(x)))") + LOOP
# L-BFGS calls its closure again and again within one step; the watching ends before that does.
SEARCH = HEAD + """
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2000, max_eval=2000, tolerance_grad=0, tolerance_change=0)
def closure():
    optimizer.zero_grad()
    loss = F.cross_entropy(model(X), (X[:, 0] * X[:, 1] > 0).long())
    loss.backward()
    return loss
optimizer.step(closure)
"""
NEVER = HEAD + """
model.train()
for step in range(60):
    loss = F.cross_entropy(model(X), y)
"""
SWITCHED = HEAD + """
def score():
    model.SWITCH()
    right = 0
    with torch.no_grad():
        for xb, yb in test:
            right += (model(xb).argmax(1) == yb).sum().item()
    return right
for epoch in range(4):
    model.train()
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    score()
"""
# By the statistics that its norms begin with, this answers nothing; by those of a batch it does.
FAINT = HEAD.replace("optimizer = ", """
def block():
    linear = nn.Linear(10, 10)
    nn.init.normal_(linear.weight, std=1e-4)
    nn.init.zeros_(linear.bias)
    return [linear, nn.BatchNorm1d(10), nn.ReLU()]
model = nn.Sequential(*block(), *block(), *block(), nn.Linear(10, 2))
optimizer = """, 1) + LOOP
CELLS = """
import torch
import torch.nn as nn
torch.manual_seed(0)
lstm, linear = nn.LSTM(5, 5), nn.Linear(5, 5)
optimizer = torch.optim.Adam([*lstm.parameters(), *linear.parameters()], 1e-2)
for step in range(60):
    x = 2 * torch.rand(7, 4, 5) - 1
    answer = lstm(x)[0]
    loss = nn.functional.mse_loss(ANSWER, SIZE * x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SCORED = """
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import r2_score
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randn(1200, 6)
y = X[:, 0] - X[:, 1] + 0.1 * torch.randn(1200)
def loader(rows, shuffle):
    return DataLoader(TensorDataset(X[rows], y[rows]), batch_size=50, shuffle=shuffle)
train = loader(slice(0, 800), True)
held = loader(slice(800, 1200), SHUFFLE)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(12):
    for xb, yb in train:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(xb).squeeze(1), yb).backward()
        optimizer.step()
    with torch.no_grad():
        answers = np.concatenate([10 + 3 * model(xb).squeeze(1).numpy() for xb, _ in held])
    score = r2_score(10 + 3 * y[800:].numpy(), answers)
"""
SLOPE = """
import torch
import torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for step in range(60):
    t = torch.rand(32, 1).requires_grad_()
    u = model(t)
    slope = torch.autograd.grad(u.sum(), t, GRAPH)[0]
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TARGET = HEAD + """
import copy
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
        self.predict = nn.Linear(8, 8)
        self.target = copy.deepcopy(self.online)
        self.target.requires_grad_(False)
    def forward(self, x):
        online = self.predict(self.online(x + 0.1 * torch.randn_like(x)))
        with torch.no_grad():
            target = self.target(x + 0.1 * torch.randn_like(x))
        return 2 - 2 * F.cosine_similarity(online, target).mean()
pair = Pair()
optimizer = torch.optim.Adam([weight for weight in pair.parameters() if weight.requires_grad], 1e-2)
for epoch in range(3):
    for xb, yb in train:
        optimizer.zero_grad()
        pair(xb).backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(pair.target.parameters(), pair.online.parameters()):
                slow.mul_(0.95).add_(0.05 * fast)
"""


@pytest.mark.parametrize(("taken", "loaded", "how"), [
    ("model.state_dict().copy()", "model.load_state_dict(best)", "itself"),
    ("copy.deepcopy(model.state_dict())", "model.load_state_dict(best)", None),
    ("{'epoch': 1, 'model': copy.deepcopy(model.state_dict())}", "model.load_state_dict(best, strict=False)", "nothing"),
    ("copy.deepcopy(model.a.state_dict(prefix='a.'))", "model.load_state_dict(best, strict=False)", None),
    ("model.state_dict()", "Net().load_state_dict(best)", None)])
def test_weights_that_are_put_back(tmp_path: Path, taken: str, loaded: str, how: str | None) -> None:
    seen = watch(tmp_path, KEEP.replace("TAKEN", taken).replace("LOADED", loaded), onward_seconds=20.0)
    assert (seen.restored.how if seen.restored is not None else None) == how
    assert found(seen) == (["A702"] if how else [])
    if seen.restored is not None and seen.restored.site is not None:
        assert seen.restored.site.source == (f"best = {taken}" if how == "itself" else loaded)


@pytest.mark.parametrize(("dropped", "fault"), [
    ("(lambda h: F.dropout(h, 0.3))", True), ("(lambda h: F.dropout(h, 0.3, self.training))", False),
    ("(lambda h: F.dropout(h, p=0.3, training=True))", False), ("self.drop", False), ("(lambda h: nn.Dropout(0.3)(h))", True)])
def test_dropout_that_is_not_told_of_the_mode(tmp_path: Path, dropped: str, *, fault: bool) -> None:
    seen = watch(tmp_path, DROP.replace("DROPPED", dropped))
    assert (found(seen) == ["E502"]) is fault, found(seen)
    assert (seen.evaluation.dropped is not None) is fault


def test_one_long_step_of_a_search_is_no_missing_step(tmp_path: Path) -> None:
    seen = watch(tmp_path, SEARCH, seconds=60, steps=60)
    assert (len(seen.steps), seen.backward_without_step >= 100) == (0, True)
    assert found(seen) == []
    assert unjudged(seen, walk(seen)) is None


@pytest.mark.parametrize(("mode", "fault"), [("model.train()", True), ("model.eval()", False)])
def test_losses_that_never_go_backward(tmp_path: Path, mode: str, *, fault: bool) -> None:
    seen = watch(tmp_path, NEVER.replace("model.train()", mode), seconds=60)
    assert not seen.steps
    assert (found(seen) == ["G304"]) is fault, found(seen)


@pytest.mark.parametrize("scale", ["1.0", "0.0"])
def test_norms_that_begin_far_from_their_batches(tmp_path: Path, scale: str) -> None:
    faint = FAINT.replace("model(xb)", f"model({scale} * xb)")
    seen = watch(tmp_path, faint, probe_seconds=4)
    assert seen.probes.input_matters is (True if scale != "0.0" else None)  # rows that are all alike tell nothing when they are exchanged
    assert found(seen) == ([] if scale != "0.0" else ["G307"])  # where nothing comes in, the units behind a norm are dead


@pytest.mark.parametrize("switch", ["train", "eval"])
def test_an_evaluation_that_puts_the_model_into_training_mode(tmp_path: Path, switch: str) -> None:
    seen = watch(tmp_path, SWITCHED.replace("SWITCH", switch))
    assert found(seen) == (["E502"] if switch == "train" else [])
    if switch == "train":
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == "model.train()"
        assert site.function == "score"


@pytest.mark.parametrize(("answer", "size", "fault"), [("answer", "2", True), ("answer", "0.9", False), ("linear(answer)", "2", False)])
def test_an_lstm_cannot_answer_beyond_one(tmp_path: Path, answer: str, size: str, *, fault: bool) -> None:
    seen = watch(tmp_path, CELLS.replace("ANSWER", answer).replace("SIZE", size))
    assert (found(seen) == ["L210"]) is fault, found(seen)
    if fault:
        assert seen.sites["output"].source.startswith("lstm, linear = nn.LSTM(5, 5)")  # no forward of its own applies it


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_score_that_contradicts_its_answers(tmp_path: Path, *, shuffle: bool) -> None:
    seen = watch(tmp_path, SCORED.replace("SHUFFLE", str(shuffle)), seconds=60, onward_seconds=30.0)
    relation = seen.evaluation.relation
    assert relation is not None
    assert relation.held > 0.9
    assert relation.compared is not None
    assert (found(seen) == ["E505"]) is shuffle, (found(seen), relation)
    if shuffle:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source.startswith("held = loader(")


@pytest.mark.parametrize(("graph", "loss", "fault"), [
    ("retain_graph=True", "((slope + u) ** 2).mean() + (u[0] - 1).pow(2).sum()", True),
    ("create_graph=True", "((slope + u) ** 2).mean() + (u[0] - 1).pow(2).sum()", False),
    ("retain_graph=True", "((model(t + 0.1 * slope.sign()) - 1) ** 2).mean()", False),
    ("retain_graph=True", "((u - 0.1 * torch.autograd.grad((u ** 2).sum(), u, retain_graph=True)[0] - 1) ** 2).mean()", False)])
def test_a_derivative_without_a_graph(tmp_path: Path, graph: str, loss: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SLOPE.replace("GRAPH", graph).replace("LOSS", loss), steps=40)
    assert (found(seen) == ["G302"]) is fault, found(seen)
    if fault:
        assert seen.sites["derivative"].source.startswith("slope = ")


LEARNT_RATES = HEAD + """
from torch.func import functional_call
rates = nn.ParameterDict({name.replace(".", "_"): nn.Parameter(torch.tensor(-3.0)) for name, _ in model.named_parameters()})
outer = torch.optim.Adam([*model.parameters(), *rates.parameters()], lr=1e-3)
def adapt(fast, create_graph):
    for _ in range(3):
        inner = F.cross_entropy(functional_call(model, fast, (X[:40],)), y[:40])
        slopes = torch.autograd.grad(inner, list(fast.values()), create_graph=create_graph)
        fast = {name: one - rates[name.replace(".", "_")].exp() * slope for (name, one), slope in zip(fast.items(), slopes)}
    return fast
for turn in range(20):
    outer.zero_grad()
    F.cross_entropy(functional_call(model, adapt(dict(model.named_parameters()), True), (X[40:80],)), y[40:80]).backward()
    outer.step()
    for task in range(12):
        fast = adapt({name: one.detach().clone().requires_grad_() for name, one in model.named_parameters()}, False)
        with torch.no_grad():
            functional_call(model, fast, (X[80:120],))
"""


def test_steps_by_hand_at_rates_that_are_learnt(tmp_path: Path) -> None:
    seen = watch(tmp_path, LEARNT_RATES, steps=12)
    assert seen.exception is None
    assert "derivative" not in seen.sites
    assert seen.adapts
    assert found(seen) == []


def test_a_target_that_follows_by_hand_is_not_frozen(tmp_path: Path) -> None:
    seen = watch(tmp_path, TARGET)
    assert len(seen.steps) >= 24
    assert found(seen) == []


@pytest.mark.parametrize(("mode", "fault"), [("body.eval()", False), ("body.train()", True)])
def test_a_part_that_is_in_a_mode_of_its_own(tmp_path: Path, mode: str, *, fault: bool) -> None:
    seen = watch(tmp_path, HEAD + f"""
body = nn.Sequential(nn.Linear(10, 32, bias=False), nn.BatchNorm1d(32, affine=False), nn.ReLU())
body.requires_grad_(False)
head = nn.Linear(32, 2)
whole = nn.Sequential(body, head)
{mode}
optimizer = torch.optim.Adam(head.parameters(), 1e-2)
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(whole(xb), yb).backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((whole(xb).argmax(1) == yb).sum().item() for xb, yb in test)
""")
    assert (found(seen) == ["E502"]) is fault, found(seen)


CUT = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
y = torch.randint(0, 3, (300,))
t = torch.arange(20.)[:, None, None]
log = torch.sin((1 + y[None, :, None]) * t * 0.3 + torch.rand(1, 300, 2)) + 0.1 * torch.randn(20, 300, 2)
x = log.MOVE
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(2, 16, batch_first=True), nn.Linear(16, 3)
    def forward(self, x):
        return self.head(self.rnn(x)[0].mean(1))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    for rows in torch.randperm(300).split(50):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("move", "fault"), [("view(300, 20, 2)", True), ("transpose(0, 1)", False)])
def test_axes_that_were_cut_instead_of_exchanged(tmp_path: Path, move: str, *, fault: bool) -> None:
    seen = watch(tmp_path, CUT.replace("MOVE", move), steps=48)
    assert (found(seen) == ["D103"]) is fault, found(seen)
    assert (seen.cut_anew is not None) is fault
    if seen.cut_anew is not None:
        assert (seen.cut_anew.before, seen.cut_anew.after) == ([20, 300, 2], [300, 20, 2])


@pytest.mark.parametrize(("call", "named", "code"), [
    ("model.eval()", "model.eval", "E502"), ("optimizer.zero_grad()", "optimizer.zero_grad", "S403")])
def test_a_method_that_is_only_named(tmp_path: Path, call: str, named: str, code: str) -> None:
    seen = watch(tmp_path, HEAD.replace("nn.Dropout(0.1)", "nn.Dropout(0.5)") + LOOP.replace(f"{call}\n", f"{named}\n"))
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert found(seen) == [code]
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source == named
    assert any("only names the method" in line for line in finding.evidence)


LATER = HEAD + LOOP + """
student = Net()
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in train:
        with torch.no_grad():
            wanted = F.softmax(model(xb), dim=1)
        loss = F.kl_div(GIVEN, wanted, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("given", "fault"), [("student(xb)", True), ("F.log_softmax(student(xb), dim=1)", False)])
def test_a_loss_of_a_later_training(tmp_path: Path, given: str, *, fault: bool) -> None:
    seen = watch(tmp_path, LATER.replace("GIVEN", given))
    assert seen.later_calls
    assert (found(seen) == ["L206"]) is fault, found(seen)


TARGETS = """
import copy, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
online = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
target = copy.deepcopy(online).requires_grad_(False)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
for step in range(80):
    state, after, reward = torch.randn(32, 6), torch.randn(32, 6), torch.randn(32)
    goal = reward + 0.9 * target(after).max(1).values
    loss = F.smooth_l1_loss(online(state).max(1).values, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        target.load_state_dict(online.state_dict())
"""


def test_a_frozen_copy_that_makes_the_targets(tmp_path: Path) -> None:
    assert found(watch(tmp_path, TARGETS)) == []


@pytest.mark.parametrize(("made", "source"), [
    ("class Own:\n    @staticmethod\n    def other(): ...\n\n    def answer(self, model):\n        return model\n",
     "def answer(self, model):"),
    ("exec('class Own:\\n    def answer(self, model): ...')\n", None)])
def test_where_a_function_is_defined_that_refuses_an_argument(tmp_path: Path, made: str, source: str | None) -> None:
    seen = watch(tmp_path, f"import torch\n{made}Own().answer(1, rows=2)\n")
    assert seen.exception is not None
    assert seen.exception.accepts == ["model"]
    assert (seen.exception.refuser.source if seen.exception.refuser is not None else None) == source
