"""PyTorch under watch: what evaluations give, kept with its graphs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, found, watch

pytest.importorskip("torch")

EVALUATED = HEAD + """
def score(out, yb):
    return F.cross_entropy(out, yb)
held, both = [], []
for epoch in range(4):
    for xb, yb in train:
        model.train()
        optimizer.zero_grad()
        out = model(xb)
        loss = score(out, yb)
        loss.backward()
        optimizer.step()
        both.append(BESIDE)
        model.eval()
        for xt, yt in test:
            loss = score(model(xt), yt)
            break
        held.append(KEPT)
"""


@pytest.mark.parametrize(("kept", "beside", "fault"), [
    ("loss", "0", True), ("loss / 2 + 1", "0", True), ("loss.item()", "0", False), ("loss.detach()", "0", False),
    # What went backward has let go of its graph, and what shares one with it has nothing to hold.
    ("0", "F.mse_loss(out, torch.zeros_like(out))", False)])
def test_losses_of_evaluations(tmp_path: Path, kept: str, beside: str, *, fault: bool) -> None:
    seen = watch(tmp_path, EVALUATED.replace("KEPT", kept).replace("BESIDE", beside), seconds=60)
    assert seen.exception is None
    assert (found(seen) == ["R602"]) is fault, (found(seen), seen.memory)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == "loss = score(model(xt), yt)"


def test_what_a_function_holds_until_it_returns(tmp_path: Path) -> None:
    head, _, body = EVALUATED.replace("KEPT", "loss").replace("BESIDE", "0").partition("held, both = [], []")
    inside = "\n".join(f"    {line}" for line in f"held, both = [], []{body}".splitlines())
    seen = watch(tmp_path, f"{head}def main():\n{inside}\nmain()\n", seconds=60)
    assert found(seen) == ["R602"], (found(seen), seen.memory)


WIDE = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Linear(16384, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(60):
    xb, yb = torch.randn(64, 16384), torch.randint(0, 2, (64,))
    optimizer.zero_grad()
    F.cross_entropy(model(xb), yb).backward()
    optimizer.step()
"""


# What hundreds of other tests left in a heap is given back while a script runs, and would be measured with it.
APART = """
import json, sys
from pathlib import Path
from tests.frameworks.watching import watch
seen = watch(Path(sys.argv[1]), sys.stdin.read(), steps=int(sys.argv[2]))
print(json.dumps([len(seen.steps), seen.memory.growth_per_step]))
"""


def grown(folder: Path, text: str, steps: int) -> float:
    """Bytes that a step of a script adds, measured in a process of its own."""
    done = subprocess.run([sys.executable, "-c", APART, str(folder), str(steps)], input=text, check=True, capture_output=True, text=True,
                          cwd=Path(__file__).parents[2], timeout=300)
    seen, growth = json.loads(done.stdout.splitlines()[-1])
    assert seen == steps
    return float(growth)


def test_batches_that_are_kept_to_experiment_with_are_no_growth(tmp_path: Path) -> None:
    assert grown(tmp_path, WIDE, 60) < 2**20  # a batch has four times as much


LEAKY = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Linear(64, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
kept = []
for step in range(80):
    xb, yb = torch.randn(64, 64), torch.randint(0, 2, (64,))
    if KEEP:
        kept.append(torch.ones(2 * 2**18))
    optimizer.zero_grad()
    F.cross_entropy(model(xb), yb).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("keep", "least", "most"), [("True", 1.9, 2.1), ("step < 16", -0.1, 0.1), ("False", -0.1, 0.1)])
def test_growth_of_memory(tmp_path: Path, keep: str, least: float, most: float) -> None:
    """2 MiB are kept with each step, with each of the first ones (a cache that fills), or with none."""
    assert least < grown(tmp_path, LEAKY.replace("KEEP", keep), 80) / 2**20 < most


def test_without_time_for_experiments_there_are_none(tmp_path: Path) -> None:
    seen = watch(tmp_path, LEAKY.replace("KEEP", "False"), steps=30, probe_seconds=0.0)
    assert len(seen.steps) == 30
    assert seen.probes.seconds == 0
    assert set(seen.probes.skipped.values()) == {"no time for experiments"}
    assert seen.probes.initial_loss is None


WHOLE = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 4096), nn.ReLU(), nn.Linear(4096, 1024), nn.ReLU(), nn.Linear(1024, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
total = None
for epoch in range(6):
    for step in range(8):
        xb = torch.randn(16, 64)
        yb = (xb[:, 0] > 0).long()
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    model.eval()
    total = 0.0
    for batch in range(BATCHES):
        xb = torch.randn(512, 64)
        yb = (xb[:, 0] > 0).long()
        total += ADDED
    model.train()
"""
ONCE = APART.replace("seen.memory.growth_per_step", "seen.memory.graphs_at_once, seen.memory.held_at_once, found(seen)").replace(
    "import watch", "import found, watch")


@pytest.mark.parametrize(("batches", "added", "fault"), [
    (30, "F.cross_entropy(model(xb), yb)", True), (20, "F.cross_entropy(model(xb), yb)", True),
    (20, "F.cross_entropy(model(xb), yb).item()", False),
    (30, "F.cross_entropy(model(xb), yb).item()", False),
    (4, "F.cross_entropy(model(xb), yb)", False)])
def test_graphs_of_one_evaluation(tmp_path: Path, batches: int, added: str, *, fault: bool) -> None:
    text = WHOLE.replace("BATCHES", str(batches)).replace("ADDED", added)
    done = subprocess.run([sys.executable, "-c", ONCE, str(tmp_path), "40"], input=text, check=True, capture_output=True, text=True,
                          cwd=Path(__file__).parents[2], timeout=300)
    _, graphs, held, codes = json.loads(done.stdout.splitlines()[-1])
    assert codes == (["R602"] if fault else []), (graphs, held)
    assert graphs == (batches if fault else 0)
    if fault:
        assert held > graphs * 512 * 4096 * 4  # the widest answer in each alone


GATHERED = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 4096), nn.ReLU(), nn.Linear(4096, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
def asked(model):
    model.eval()
    gathered = []
    for batch in range(BATCHES):
        gathered.append(GIVEN)
    model.train()
    return float(torch.cat(gathered).mean())
for epoch in range(6):
    for step in range(8):
        xb = torch.randn(16, 64)
        yb = (xb[:, 0] > 0).long()
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    asked(model)
"""


@pytest.mark.parametrize(("given", "fault"), [("model(torch.randn(2048, 64))", True), ("model(torch.randn(2048, 64)).detach()", False)])
def test_answers_that_a_function_lets_go_of(tmp_path: Path, given: str, *, fault: bool) -> None:
    text = GATHERED.replace("BATCHES", "30").replace("GIVEN", given)
    done = subprocess.run([sys.executable, "-c", ONCE, str(tmp_path), "40"], input=text, check=True, capture_output=True, text=True,
                          cwd=Path(__file__).parents[2], timeout=300)
    _, graphs, held, codes = json.loads(done.stdout.splitlines()[-1])
    assert codes == (["R602"] if fault else []), (graphs, held)
    assert graphs == (30 if fault else 0)


KERAS = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(2)])
optimizer = keras.optimizers.SGD(1e-3)
history = []
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss, tf.ones((4, 2 ** 18)) * loss
for number in range(160):
    result = step(np.random.randn(64, 64).astype("float32"), np.random.randint(0, 2, 64))
    history.append(KEPT)
"""


@pytest.mark.parametrize(("kept", "grows"), [("result", True), ("float(result[0])", False)])
def test_growth_of_memory_in_keras(tmp_path: Path, kept: str, *, grows: bool) -> None:
    """4 MiB are kept with each step, or none."""
    script = APART.replace("tests.frameworks.watching import watch", "tests.frameworks.test_watch_keras import watch").replace(
        "len(seen.steps)", "seen.memory.steps")
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path), "150"], input=KERAS.replace("KEPT", kept), check=True,
                          capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=300)
    measured, growth = json.loads(done.stdout.splitlines()[-1])
    assert measured >= 60
    assert (growth > 2 * 2**20) is grows


BY_HAND = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
weight, head = torch.randn(64, 2048).div(8).requires_grad_(), torch.zeros(2048, 2, requires_grad=True)
optimizer = torch.optim.SGD([weight, head], lr=0.1)
for step in range(120):
    xb = torch.randn(256, 64)
    loss = F.cross_entropy(torch.tanh(xb @ weight) @ head, (xb[:, 0] > 0).long())
    for one, gradient in zip((weight, head), torch.autograd.grad(loss, (weight, head))):
        one.grad = gradient
    optimizer.step()
"""


def test_gradients_that_are_set_by_hand_keep_no_graph(tmp_path: Path) -> None:
    assert grown(tmp_path, BY_HAND, 120) < 2**18  # what a step computes is eight times as much
