"""Recurrent states that go on from one batch to the next: over shuffled rows, and over those that go on as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import FAILED, Finding, walk
from harness.checks.observation import Observation
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import watch

TORCH = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
stream = torch.cumsum(torch.randn(16 * 20 * 12), 0).sin()
X = stream.view(16, 20, 12, 1)                              # 16 streams of 20 windows
Y = X.roll(-1, 2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.LSTM(1, 16, batch_first=True), nn.Linear(16, 1)
        self.left = None
    def forward(self, x, state=None):
        made, state = self.rnn(x, state)
        return self.out(made), state
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
def step(x, y, state):
    out, state = net(x, state)
    loss = nn.functional.mse_loss(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return tuple(part.detach() for part in state)
"""
SHUFFLED = """
rows = DataLoader(TensorDataset(X.reshape(-1, 12, 1), Y.reshape(-1, 12, 1)), batch_size=16, shuffle=True, drop_last=True)
for epoch in range(3):
    state = None
    for x, y in rows:
        state = step(x, y, state)
"""
STREAMED = """
for epoch in range(3):
    state = None
    for at in range(20):
        state = step(X[:, at], Y[:, at], state)
"""
PIECES = """
rows = DataLoader(TensorDataset(X.reshape(16, 240, 1), Y.reshape(16, 240, 1)), batch_size=4, shuffle=True)
for epoch in range(8):
    for x, y in rows:
        state = None
        for at in range(0, 240, 12):
            state = step(x[:, at:at + 12], y[:, at:at + 12], state)
"""
DRAWN = """
X, Y = X.reshape(-1, 12, 1)[:160], Y.reshape(-1, 12, 1)[:160]
for epoch in range(4):
    state = None
    for at in torch.randperm(160).split(16):
        state = step(X[at], Y[at], state)
"""
KEPT = TORCH.replace("made, state = self.rnn(x, state)", "made, state = self.rnn(x, self.left)").replace(
    "return self.out", "self.left = tuple(part.detach() for part in state)\n        return self.out")


def found(seen: Observation) -> Finding | None:
    results = walk(seen)
    assert not [result for result in results if (result.reason or "").startswith(FAILED)]
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    return next((result.finding for result in results if result.code == "F107"), None)


def test_a_state_that_goes_on_over_shuffled_rows_is_found_where_it_is_handed_over(tmp_path: Path) -> None:
    finding = found(watch(tmp_path, TORCH + SHUFFLED, steps=60))
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source == "state = step(x, y, state)"
    assert "`Net`" in finding.message
    assert "drawn at random" in " ".join(finding.evidence)


def test_rows_of_an_index_that_is_drawn_anew_are_known_by_their_successors(tmp_path: Path) -> None:
    seen = watch(tmp_path, TORCH + DRAWN, steps=60)
    assert found(seen) is not None
    assert seen.carried is not None
    assert seen.carried.again >= 100
    assert seen.carried.same < 30


def test_a_state_that_the_model_keeps_is_found_where_its_layer_is_called(tmp_path: Path) -> None:
    finding = found(watch(tmp_path, KEPT + SHUFFLED.replace("step(x, y, state)", "step(x, y, None)"), steps=60))
    assert finding is not None
    assert finding.site is not None
    assert "self.rnn(x, self.left)" in finding.site.source


@pytest.mark.parametrize("loop", [STREAMED, PIECES], ids=["streams", "pieces"])
def test_rows_that_go_on_as_their_states_do_are_left_alone(tmp_path: Path, loop: str) -> None:
    seen = watch(tmp_path, TORCH + loop, steps=200)
    assert found(seen) is None
    assert seen.carried is not None
    assert seen.carried.carried >= 15
    assert seen.carried.again == seen.carried.same > 50


@pytest.mark.parametrize(("begins", "fault"), [("at == 0 and not begun", True), ("at == 0", False)])
def test_pieces_of_rows_in_a_method_that_no_hook_of_modules_hears(tmp_path: Path, begins: str, *, fault: bool) -> None:
    """Three of four steps go on rightly; it is those that come to another batch that count."""
    text = TORCH + """
class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.read, self.memory = nn.GRU(1, 16, batch_first=True), nn.Linear(16, 1), None
    def follow(self, part, opening):
        if opening:
            self.memory = None
        made, last = self.cell(part, self.memory)
        self.memory = last.detach()
        return self.read(made)
tracker, begun = Tracker(), False
optimizer = torch.optim.Adam(tracker.parameters(), lr=3e-3)
rows = DataLoader(TensorDataset(X.reshape(-1, 48, 1), Y.reshape(-1, 48, 1)), batch_size=8, shuffle=True)
for epoch in range(8):
    for x, y in rows:
        for at in range(0, 48, 12):
            loss = nn.functional.mse_loss(tracker.follow(x[:, at:at + 12], BEGINS), y[:, at:at + 12])
            begun = True
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
""".replace("BEGINS", begins)
    seen = watch(tmp_path, text, steps=100)
    assert seen.carried is not None
    assert seen.carried.turned >= 15
    assert (seen.carried.drawn == seen.carried.turned) is fault
    assert (found(seen) is not None) is fault


def test_batches_that_begin_with_nothing_carry_nothing(tmp_path: Path) -> None:
    seen = watch(tmp_path, TORCH + SHUFFLED.replace("step(x, y, state)", "step(x, y, None)"), steps=60)
    assert found(seen) is None
    assert seen.carried is None


def test_models_that_are_made_of_cells(tmp_path: Path) -> None:
    cells = TORCH.replace("nn.LSTM(1, 16, batch_first=True)", "nn.GRUCell(1, 16)").replace("""        made, state = self.rnn(x, state)
        return self.out(made), state
""", """        made = []
        for at in range(x.shape[1]):
            state = self.rnn(x[:, at], state)
            made.append(state)
        return self.out(torch.stack(made, 1)), state
""").replace("tuple(part.detach() for part in state)", "state.detach()")
    assert found(watch(tmp_path, cells + SHUFFLED, steps=60)) is not None
    assert found(watch(tmp_path, cells + STREAMED, steps=60)) is None


TAPE = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
X = np.sin(np.cumsum(rng.normal(size=(16, 16, 12, 1)), 2)).astype("float32")
Y = X.sum(2)
gru, head = keras.layers.GRU(16, return_state=True), keras.layers.Dense(1)
optimizer = keras.optimizers.Adam(3e-3)
gru.build((16, 12, 1)); head.build((16, 16))
weights = gru.trainable_variables + head.trainable_variables
@tf.function
def step(x, y, state):
    with tf.GradientTape() as tape:
        out, state = gru(x, initial_state=state)
        loss = tf.reduce_mean((head(out) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return state
for epoch in range(3):
    state = tf.zeros((16, 16))
    ORDER
        state = step(x, y, state)
"""
TAPES = {"drawn": "for at in rng.permutation(256).reshape(16, 16):\n        x, y = X.reshape(-1, 12, 1)[at], Y.reshape(-1, 1)[at]",
         "streamed": "for at in range(16):\n        x, y = X[:, at], Y[:, at]"}


@pytest.mark.parametrize("order", TAPES)
def test_tapes(tmp_path: Path, order: str) -> None:
    pytest.importorskip("tensorflow")
    seen = small.watch(tmp_path, TAPE.replace("ORDER", TAPES[order]), steps=48)
    finding = found(seen)
    assert (finding is not None) == (order == "drawn")
    assert seen.carried is not None
    assert seen.carried.again >= 100
    if finding is not None:
        assert finding.site is not None
        assert finding.site.source == "state = step(x, y, state)"


STATEFUL = small.HEAD + """
x = np.random.randn(320, 12, 1).astype("float32")
y = x.sum(1)
model = keras.Sequential([keras.layers.GRU(8, stateful=True, BATCH), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(0.01), "mse")
model.fit(x, y, batch_size=16, epochs=2, verbose=0, shuffle=SHUFFLE)
"""


@pytest.mark.parametrize("name", small.KERAS)
@pytest.mark.parametrize("shuffle", [True, False])
def test_layers_that_keep_their_state(tmp_path: Path, name: str, shuffle: bool) -> None:
    batch = "batch_input_shape=(16, 12, 1)" if name == "tf_keras" else "input_shape=(12, 1)"
    text = STATEFUL.replace("NAME", name).replace("SHUFFLE", str(shuffle)).replace("BATCH", batch)
    if name == "keras":
        text = text.replace("keras.layers.GRU(8, stateful=True, input_shape=(12, 1))",
                            "keras.Input((12, 1), batch_size=16), keras.layers.GRU(8, stateful=True)")
    finding = found(small.watch(tmp_path, text))
    assert (finding is not None) == shuffle
    if finding is not None:
        assert finding.site is not None
        assert "stateful=True" in finding.site.source
