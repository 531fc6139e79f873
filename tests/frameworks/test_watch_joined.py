"""Graphs that are joined to a batch: whether their edges go with their nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.graph_facts import JoinedFacts
from tests.checks.made import healthy, judge
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

GRAPHS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
rows = []
for number in range(320):
    size = int(torch.randint(5, 9, (1,)))
    around = torch.arange(size)
    edges = torch.stack([around, (around + 1) % size]) if number % 2 else torch.stack([torch.zeros_like(around), around])
    edges = torch.cat([edges, edges.flip(0)], 1)
    rows.append((torch.randn(size, 4), edges, number % 2))
def collate(batch):
    xs, edges, groups, nodes = [], [], [], 0
    for number, (x, edge, _) in enumerate(batch):
        xs.append(x)
        edges.append(EDGE)
        groups.append(GROUP)
        nodes += len(x)
    return torch.cat(xs), torch.cat(edges, 1)AXES, torch.cat(groups), torch.tensor([label for *_, label in batch])
loader = torch.utils.data.DataLoader(rows, batch_size=16, shuffle=True, collate_fn=collate)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(4, 16), nn.Linear(16, 16), nn.Linear(16, 2)
    def forward(self, x, edges, groups):
        edges = edges if edges.shape[0] == 2 else edges.T
        if len(groups) < len(x):
            groups = torch.repeat_interleave(torch.arange(len(groups)), groups)
        h = torch.relu(self.a(x))
        h = torch.relu(self.b(h + torch.zeros_like(h).index_add(0, edges[1], h[edges[0]])))
        return self.out(torch.zeros(int(groups.max()) + 1, 16).index_add(0, groups, h))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for x, edges, groups, labels in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x, edges, groups), labels).backward()
        optimizer.step()
"""
NODE, SIZE = "torch.full((len(x),), number)", "torch.tensor([len(x)])"


@pytest.mark.parametrize("axes", ["", ".T"])
@pytest.mark.parametrize("group", [NODE, SIZE])
@pytest.mark.parametrize(("edge", "wrong"), [("edge", True), ("edge + nodes", False)])
def test_edges_that_are_not_moved(tmp_path: Path, edge: str, group: str, axes: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, GRAPHS.replace("EDGE", edge).replace("GROUP", group).replace("AXES", axes))
    assert seen.exception is None
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("B105" in found(seen)) is wrong, seen.joined
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "B105")
        assert told is not None
        assert told.site is not None
        assert told.site.source == f"edges.append({edge})"


def test_edges_by_another_name(tmp_path: Path) -> None:
    text = GRAPHS.replace("EDGE", "edge").replace("GROUP", NODE).replace("AXES", "").replace("edge", "bond")
    told = next(result.finding for result in walk(watch(tmp_path, text)) if result.code == "B105")
    assert told is not None
    assert told.site is not None
    assert told.site.source == "bonds.append(bond)"


KERAS = """
import numpy as np
import keras
import tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
rows = []
for number in range(160):
    size = int(rng.integers(5, 9))
    around = np.arange(size)
    edges = np.stack([around, (around + 1) % size]) if number % 2 else np.stack([0 * around, around])
    rows.append((rng.normal(size=(size, 4)).astype("float32"), np.concatenate([edges, edges[::-1]], 1), number % 2))
def batches():
    while True:
        picked, nodes, xs, edges, groups = rng.permutation(160)[:16], 0, [], [], []
        for number, row in enumerate(picked):
            x, edge, _ = rows[row]
            xs.append(x)
            edges.append(EDGE)
            groups.append(np.full(len(x), number))
            nodes += len(x)
        given = np.concatenate(xs), np.concatenate(edges, 1).astype("int32"), np.concatenate(groups).astype("int32")
        yield given, np.array([rows[row][2] for row in picked])
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = keras.layers.Dense(16, activation="relu"), keras.layers.Dense(16), keras.layers.Dense(2)
    def call(self, inputs):
        x, edges, groups = inputs
        h = self.a(x)
        h = tf.nn.relu(self.b(h + tf.math.unsorted_segment_sum(tf.gather(h, edges[0]), edges[1], tf.shape(h)[0])))
        return self.out(tf.math.unsorted_segment_sum(h, groups, 16))
model = Net()
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
kinds = (((None, 4), tf.float32), ((2, None), tf.int32), ((None,), tf.int32))
signature = tuple(tf.TensorSpec(*kind) for kind in kinds), tf.TensorSpec((None,), tf.int64)
model.fit(tf.data.Dataset.from_generator(batches, output_signature=signature), steps_per_epoch=10, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("edge", "wrong"), [("edge", True), ("edge + nodes", False)])
def test_edges_of_keras(tmp_path: Path, edge: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("EDGE", edge), steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("B105" in found(seen)) is wrong, seen.joined


def test_few_batches_tell_nothing() -> None:
    seen = healthy()
    assert "no graphs" in judge("B105", seen)
    seen.joined = JoinedFacts(batches=2, graphs=8, nodes=60, edges=70, largest=9, highest=8, reached=2)
    assert judge("B105", seen) == "clean"
    seen.joined.batches = 5
    assert judge("B105", seen) == "found"
