"""Memories of transitions that hold one array twice, values that take the best of the whole batch, and batches of one row."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

GAME = """
import random
import numpy as np
random.seed(0)
class Track:
    def reset(self):
        self.state, self.t = np.zeros(2, dtype=np.float32), 0
        return self.state
    def step(self, action):
        self.t += 1
        self.state[0] += 0.2 if action else -0.2
        self.state[1] = self.state[0] ** 2
        return STATE, float(-abs(self.state[0] - 1)), self.t >= 20
track, memory = Track(), []
state = track.reset()
for step in range(300):
    action = random.randrange(2)
    after, reward, end = track.step(action)
    memory.append((state, action, reward, after, float(end)))
    state = track.reset() if end else after
def batch():
    s, a, r, n, d = map(np.array, zip(*random.sample(memory, 32)))
    return s, a, r.astype("float32"), n, d.astype("float32")
"""
TORCH = GAME + """
import torch, torch.nn as nn
torch.manual_seed(0)
q, target = (nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2))
optimizer = torch.optim.Adam(q.parameters(), 1e-3)
for step in range(40):
    s, a, r, n, d = map(torch.tensor, batch())
    with torch.no_grad():
        y = r + 0.9 * (1 - d) * target(n).BEST
    loss = ((q(s).gather(1, a[:, None]).squeeze(1) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    target.load_state_dict(q.state_dict())
"""
KERAS = GAME + """
import tensorflow as tf, keras
keras.utils.set_random_seed(0)
q, target = (keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)]) for _ in range(2))
optimizer = keras.optimizers.Adam(1e-3)
def train():
    s, a, r, n, d = batch()
    after = target(n)
    y = r + 0.9 * (1 - d) * tf.reduce_max(AFTER)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.reduce_sum(q(s, training=True) * tf.one_hot(a, 2), 1) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))
    target.set_weights(q.get_weights())
for step in range(40):
    train()
"""
COPIED = "self.state.copy()"


@pytest.mark.parametrize(("state", "best", "code"), [
    (COPIED, "max(1).values", None), ("self.state", "max(1).values", "D103"), (COPIED, "max()", "L224")])
def test_in_pytorch(tmp_path: Path, state: str, best: str, code: str | None) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("STATE", state).replace("BEST", best))
    assert (code is None) != (code in found(seen))
    assert (code == "D103") == (seen.transitions is not None)
    assert (code == "L224") == (seen.whole_best is not None)


@pytest.mark.parametrize(("state", "after", "code"), [
    (COPIED, "after, axis=1", None), ("self.state", "after, axis=1", "D103"), (COPIED, "after", "L224")])
def test_in_tensorflow(tmp_path: Path, state: str, after: str, code: str | None) -> None:
    pytest.importorskip("keras")
    text = KERAS.replace("STATE", state).replace("AFTER", after)
    seen = test_watch_keras.watch(tmp_path, text)
    codes = [result.code for result in walk(seen) if result.state == "found"]
    assert (code is None) != (code in codes)
    site = next((result.finding.site for result in walk(seen) if result.code == code and result.finding), None)
    part = {"D103": "return self.state, float", "L224": "tf.reduce_max"}.get(code or "")
    assert part is None or (site is not None and site.line == test_watch_keras.line(text, part))


ROWS = """
import numpy as np
rng = np.random.default_rng(0)
row, rows, labels = np.zeros(12, dtype="float32"), [], []
for number in range(320):
    label = int(rng.integers(2))
    for place in range(12):
        row[place] = np.sin((0.3 + 0.3 * label) * place) + 0.3 * rng.normal()
    rows.append(KEPT)
    labels.append(label)
x, y = np.stack(rows), np.array(labels)
"""
LEARNT = {"torch": """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for xb, yb in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.tensor(x), torch.tensor(y)), 16, shuffle=True):
    loss = F.cross_entropy(model(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""", "keras": """
import keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""}


@pytest.mark.parametrize("framework", ["torch", "keras"])
@pytest.mark.parametrize(("kept", "wrong"), [("row", True), ("row.copy()", False)])
def test_one_row_for_all(tmp_path: Path, framework: str, kept: str, *, wrong: bool) -> None:
    pytest.importorskip(framework)
    text = ROWS.replace("KEPT", kept) + LEARNT[framework]
    seen = (watch if framework == "torch" else test_watch_keras.watch)(tmp_path, text)
    first = next((result for result in walk(seen) if result.state == "found"), None)
    assert (first is not None and first.code == "D103") == wrong
    if wrong:
        assert first is not None
        assert first.finding is not None
        assert first.finding.site is not None
        assert first.finding.site.line == test_watch_keras.line(text, "rows.append")


def test_one_query_beside_several_documents(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, """
import torch, torch.nn as nn
torch.manual_seed(0)
class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.document = nn.Linear(6, 16), nn.Linear(6, 16)
    def forward(self, query, documents):
        return (self.query(query) * self.document(documents)).sum(1)
model = Ranker()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for step in range(40):
    query, documents = torch.randn(6), torch.randn(16, 6)
    best = (documents @ query).argmax()
    loss = nn.functional.cross_entropy(model(query.expand(16, -1), documents)[None], best[None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""")
    assert seen.one_row is None
    assert "D103" not in found(seen)


@pytest.mark.parametrize(("state", "fault"), [("self.state", True), (COPIED, False)])
def test_a_memory_of_an_agent_of_its_own(tmp_path: Path, state: str, *, fault: bool) -> None:
    """No name of the step's own leads to it but `self`, by two attributes."""
    pytest.importorskip("torch")
    agent = """
class Memory:
    def __init__(self):
        self.kept = memory
class Agent:
    def __init__(self):
        self.memory = Memory()
    def learn(self):
        s, a, r, n, d = map(torch.tensor, batch(self.memory.kept))
"""
    head, loop = TORCH.split("for step in range(40):\n    s, a, r, n, d = map(torch.tensor, batch())\n")
    learnt = "".join(f"    {line}\n" for line in loop.splitlines())
    text = head + agent + learnt + "agent = Agent()\ndel memory\nfor step in range(40):\n    agent.learn()\n"
    text = text.replace("def batch():", "def batch(memory):").replace("STATE", state).replace("BEST", "max(1).values")
    assert ("D103" in found(watch(tmp_path, text))) is fault


@pytest.mark.parametrize(("shown", "line"), [
    ("return self.state", "return self.state"), ("return np.asarray(self.state)", "return np.asarray(self.state)"),
    ("seen = self.state\n        return seen", "memory_of.push(state")])
def test_the_line_that_hands_a_transition_on(tmp_path: Path, shown: str, line: str) -> None:
    pytest.importorskip("torch")
    memory = """
class Memory:
    def __init__(self):
        self.kept = []
    def push(self, *transition):
        self.kept.append(transition)
    def __len__(self):
        return len(self.kept)
memory_of = Memory()
"""
    text = TORCH.replace("track, memory = Track(), []", memory + "track = Track()").replace(
        "memory.append((state, action, reward, after, float(end)))", "memory_of.push(state, action, reward, after, float(end))")
    text = text.replace("random.sample(memory, 32)", "random.sample(memory_of.kept, 32)")
    text = text.replace("STATE", "self.now()").replace("    def step", f"    def now(self):\n        {shown}\n    def step")
    seen = watch(tmp_path, text.replace("BEST", "max(1).values"))
    told = next(result.finding for result in walk(seen) if result.code == "D103")
    assert told is not None
    assert told.site is not None
    assert told.site.source.startswith(line)
