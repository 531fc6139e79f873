"""Pairs that are held back, in the graph that a model is given in training and apart from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

TEXT = """
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
rng = np.random.default_rng(0)
n = 120
kind = rng.integers(0, 4, n)
alike = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < (0.12 if kind[a] == kind[b] else 0.01)]
pairs = torch.tensor(rng.permutation(np.array(alike)))
test_pos, train_pos = pairs[:60], pairs[60:]
test_neg = torch.tensor(rng.integers(0, n, (60, 2)))
x = torch.eye(n)
def matrix(edges):
    made = torch.eye(n)
    made[edges[:, 0], edges[:, 1]] = 1
    made[edges[:, 1], edges[:, 0]] = 1
    return made / made.sum(1, keepdim=True)
def listed(edges):
    return torch.cat([edges, edges.flip(1)]).T
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(n, 16), nn.Linear(16, 8)
    def forward(self, x, graph):
        if graph.shape[0] == 2:
            made = torch.eye(n)
            made[graph[0], graph[1]] = 1
            graph = made / made.sum(1, keepdim=True)
        return graph @ self.two(F.relu(graph @ self.one(x)))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
graph = GRAPH
for step in range(40):
    wrong = torch.tensor(rng.integers(0, n, (len(train_pos), 2)))
    z = model(x, graph)
    scores = torch.cat([(z[part[:, 0]] * z[part[:, 1]]).sum(1) for part in (train_pos, wrong)])
    loss = F.binary_cross_entropy_with_logits(scores, torch.cat([torch.ones(len(train_pos)), torch.zeros(len(wrong))]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    z = model(x, graph)
    print((z[test_pos[:, 0]] * z[test_pos[:, 1]]).sum(1).mean(), (z[test_neg[:, 0]] * z[test_neg[:, 1]]).sum(1).mean())
"""


@pytest.mark.parametrize("kind", ["matrix", "listed"])
@pytest.mark.parametrize(("edges", "fault"), [("pairs", True), ("train_pos", False)])
def test_pairs_that_are_held_back(tmp_path: Path, kind: str, edges: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TEXT.replace("GRAPH", f"{kind}({edges})"), steps=40, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E510" in found(seen)) is fault, seen.evaluation.held_edges
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "E510")
        assert told is not None
        assert told.site is not None
        assert told.site.source == f"graph = {kind}({edges})"
        assert "all 60 of `test_pos`" in told.message


@pytest.mark.parametrize(("edges", "fault"), [("pairs", True), ("train_pos", False)])
def test_a_graph_that_the_model_keeps(tmp_path: Path, edges: str, *, fault: bool) -> None:
    text = TEXT.replace("self.one,", f"self.register_buffer('graph', matrix({edges})); self.one,").replace(
        "def forward(self, x, graph):", "def forward(self, x):\n        graph = self.graph").replace("model(x, graph)", "model(x)").replace(
        "graph = GRAPH", "")
    seen = watch(tmp_path, text, steps=40, probe_seconds=0.5)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E510" in found(seen)) is fault, seen.evaluation.held_edges
    assert not fault or seen.evaluation.held_edges.site.source == "model = Net()"


def test_kinds_of_nodes_have_no_pairs_to_hold_back(tmp_path: Path) -> None:
    text = TEXT.replace("GRAPH", "matrix(pairs)").replace("test_pos", "some").replace("train_pos", "others")
    assert watch(tmp_path, text, steps=40, probe_seconds=0.5).evaluation.held_edges is None


TAPE = """
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
n = 120
kind = rng.integers(0, 4, n)
alike = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < (0.12 if kind[a] == kind[b] else 0.01)]
pairs = rng.permutation(np.array(alike))
test_pairs, train_pairs = pairs[:60], pairs[60:]
def matrix(edges):
    made = np.eye(n, dtype="float32")
    made[edges[:, 0], edges[:, 1]] = made[edges[:, 1], edges[:, 0]] = 1
    return tf.constant(made / made.sum(1, keepdims=True))
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.one, self.two = keras.layers.Dense(16, activation="relu"), keras.layers.Dense(8)
    def call(self, x, graph):
        return graph @ self.two(graph @ self.one(x))
model = Net()
optimizer = keras.optimizers.Adam(1e-2)
x, graph = tf.eye(n), matrix(EDGES)
@tf.function
def step(right, wrong):
    with tf.GradientTape() as tape:
        z = model(x, graph)
        scores = tf.concat([tf.reduce_sum(tf.gather(z, part[:, 0]) * tf.gather(z, part[:, 1]), 1) for part in (right, wrong)], 0)
        marks = tf.concat([tf.ones(len(right)), tf.zeros(len(wrong))], 0)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(marks, scores))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for _ in range(30):
    step(tf.constant(train_pairs), tf.constant(rng.integers(0, n, (len(train_pairs), 2))))
"""


@pytest.mark.parametrize(("edges", "fault"), [("pairs", True), ("train_pairs", False)])
def test_what_a_traced_function_closes_over(tmp_path: Path, edges: str, *, fault: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, TAPE.replace("EDGES", edges), steps=20, probe_seconds=0.5)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E510" in found(seen)) is fault, seen.evaluation.held_edges
