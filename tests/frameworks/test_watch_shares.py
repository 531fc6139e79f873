"""Shares of rows that replicas take before a training begins: each its own, or all the same one."""

from __future__ import annotations

import ast
import builtins
import operator
from pathlib import Path

import pytest

from harness.checks.same_share import SameShare
from harness.frameworks.watch import shares
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

TRAINED = """
for epoch in range(3):
    for batches in zip(*loaders):
        optimizer.zero_grad()
        for xb, yb in batches:
            (F.cross_entropy(model(xb), yb) / 4).backward()
        optimizer.step()
"""
SLICED = """
rows = torch.randperm(320)
def share(rank=0):
    return TensorDataset(X[rows[rank::4]], y[rows[rank::4]])
loaders = [DataLoader(share(GIVEN), batch_size=16, shuffle=True) for rank in range(4)]
"""
ANEW = SLICED.replace("X[rows[rank::4]], y[rows[rank::4]]", "*train.dataset[list(range(320))[rank::len(range(4))]]")
SAMPLED = """
from torch.utils.data.distributed import DistributedSampler
def share(rank=0):
    return DistributedSampler(train.dataset, num_replicas=4, rank=rank)
loaders = [DataLoader(train.dataset, batch_size=16, sampler=share(GIVEN)) for rank in range(4)]
"""


@pytest.mark.parametrize("taken", [SLICED.replace("rank::4", "rank::replicas").replace("rows =", "replicas, rows = 4,"), ANEW, SAMPLED],
                         ids=["sliced", "anew", "sampled"])
@pytest.mark.parametrize(("given", "fault"), [("", True), ("rank", False)])
def test_replicas(tmp_path: Path, taken: str, given: str, *, fault: bool) -> None:
    text = HEAD + taken.replace("GIVEN", given) + TRAINED
    seen = watch(tmp_path, text)
    assert seen.exception is None
    assert ("D126" in found(seen)) == fault, seen.shares
    if fault:
        finding = SameShare().check(seen)
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source.startswith(("loaders =", "return TensorDataset"))
        assert "75% of the rows" in finding.message


KERAS = test_watch_keras.HEAD + """
import numpy as np, tensorflow as tf
x = np.random.default_rng(0).normal(size=(320, 4)).astype("float32")
whole = tf.data.Dataset.from_tensor_slices((x, (x[:, 0] > 0).astype("float32")))
parts = [whole.shard(num_shards=4, index=INDEX).batch(8) for rank in range(4)]
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
for part in parts:
    model.fit(part, epochs=1, verbose=0)
"""


@pytest.mark.parametrize(("index", "fault"), [("0", True), ("rank", False)])
def test_shards_of_tensorflow(tmp_path: Path, index: str, *, fault: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("INDEX", index).replace("NAME", "keras"))
    assert ("D126" in found(seen)) == fault, seen.shares


def test_one_process_of_several(tmp_path: Path) -> None:
    """One share is taken, of the training's rows and of the evaluation's."""
    text = HEAD + """
def share(rows, rank=0, world=2):
    return rows[rank::world]
loaders = [DataLoader(TensorDataset(share(X[:320]), share(y[:320])), batch_size=16, shuffle=True)]
held, numbers, rank, world = share(X[320:]), torch.arange(80), 0, 2
held, wanted = X[320:][numbers[rank::world]], y[320:][numbers[rank::world]]
""" + TRAINED
    assert "D126" not in found(watch(tmp_path, text))


@pytest.mark.parametrize(("text", "times"), [
    ("a[i::n]", 1), ("a[i:j:n]", 1), ("a[i::2]", 0), ("a[::n]", 0), ("a[i::n] = 0", 0), ("a[b[i::n]]", 1), ("a[i::n, 0]", 0),
    ("import numba\na[i::n]", 0)])
def test_what_is_marked(text: str, times: int) -> None:
    tree = ast.parse(text)
    shares.mark(tree, text)
    compile(tree, "train.py", "exec")
    assert ast.unparse(tree).count(shares.NAME) == times


def test_what_stands_there_slices() -> None:
    stands = getattr(builtins, shares.NAME)
    assert stands(list(range(10)), 1, None, 3, 1) == operator.getitem(list(range(10)), slice(1, None, 3)) == [1, 4, 7]
