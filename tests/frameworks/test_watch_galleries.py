"""Rows that find themselves among those that are searched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch import galleries
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 8))
UNIT = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
APART = np.linalg.norm(ROWS[:30, None] - ROWS[None], axis=2)


@pytest.mark.parametrize(("table", "itself"), [
    (UNIT[:30] @ UNIT.T, True), (-(UNIT[:30] @ UNIT.T), True), (APART, True), (-APART, True), (APART**2, True),
    (UNIT[:30] @ UNIT[30:].T, False), (APART[:, 30:], False), (UNIT @ np.zeros((8, 60)), False),
    (np.eye(60)[:30] * 0.98 + 0.02 / 60, False), (np.where(np.eye(60, dtype=bool), -np.inf, UNIT @ UNIT.T), False),
    (RNG.random((30, 60)), False), (np.where(np.eye(60, dtype=bool), -2.0, UNIT @ UNIT.T), False)])
def test_tables(table: np.ndarray, *, itself: bool) -> None:
    facts = galleries.measure(table)
    assert (facts is not None) is itself
    assert facts is None or (facts.found, facts.gallery) == (30, 60)


LOOP = """
for _ in range(2):
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
def score(z, y):
    query = torch.arange(30)
    ASKED
with torch.no_grad():
    score(F.normalize(torch.relu(model.a(X[320:])), dim=1), y[320:])
"""
TABLE = "table = z[query] @ z.T; "


@pytest.mark.parametrize(("asked", "itself"), [
    (TABLE + "best = table.argsort(1, descending=True)\n    print((y[best[:, 0]] == y[query]).float().mean())", True),
    (TABLE + "print((y[table.argmax(1)] == y[query]).float().mean())", True),
    (TABLE + "best = table.topk(6).indices[:, 1:]\n    print((y[best] == y[query, None]).float().mean())", False),
    (TABLE + "table[query, query] = -1e9\n    print((y[table.argmax(1)] == y[query]).float().mean())", False),
    ("print((z[:30] @ z[30:].T).argmax(1))", False)])
def test_a_retrieval(tmp_path: Path, asked: str, *, itself: bool) -> None:
    seen = watch(tmp_path, HEAD + LOOP.replace("ASKED", asked), steps=60, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E529" in found(seen)) is itself, seen.evaluation.gallery
    if itself:
        told = next(result.finding for result in walk(seen) if result.code == "E529")
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith("table = z[query]")


KERAS = """
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=1, verbose=0)
z = model.predict(x[:100], verbose=0)
z = z / np.linalg.norm(z, axis=1, keepdims=True) + 0 * x[:100, :2]
ranked = RANKED
print((y[ranked[:, 0]] == y[:100]).mean())
"""


@pytest.mark.parametrize("ranked", ["np.linalg.norm(x[:100, None] - x[None, :100], axis=2).argsort(axis=1)",
                                    "np.argsort(-(x[:100] @ x[:100].T) / 40, axis=1)",
                                    "np.argsort(np.linalg.norm(x[:100, None] - x[None, :100], axis=2), axis=1)",
                                    "tf.math.top_k(-tf.norm(x[:100, None] - x[None, :100], axis=2), 5).indices.numpy()"])
def test_after_a_fit(tmp_path: Path, ranked: str) -> None:
    text = test_watch_keras.HEAD.replace("NAME", "keras") + KERAS.replace("RANKED", ranked)
    seen = test_watch_keras.watch(tmp_path, text, probe_seconds=0.5)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E529" in found(seen)) is ("norm" in ranked), seen.evaluation.gallery


GRAPH = """
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(2)])
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=1, verbose=0)
@tf.function(input_signature=[tf.TensorSpec((None, None)), tf.TensorSpec(None)])
def answers(rows, any):
    tf.print(tf.shape(tf.argsort(any)))
    return tf.argmax(rows, 1), tf.math.top_k(rows, 2)
print(answers(model.predict(x, verbose=0), x)[0][:3])
"""


def test_what_has_no_shape_in_a_graph(tmp_path: Path) -> None:
    seen = test_watch_keras.watch(tmp_path, test_watch_keras.HEAD.replace("NAME", "keras") + GRAPH, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings


def test_a_table_that_leaves_the_query_out() -> None:
    """The largest of a row is asked for, and the row's own place holds the smallest."""
    rows = np.random.default_rng(0).normal(size=(60, 8))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    without = cosines - 2 * np.eye(60)
    assert galleries.measure(cosines, largest=True) is not None
    assert galleries.measure(-cosines, largest=False) is not None
    assert galleries.measure(without, largest=True) is None
    assert galleries.measure(without) is not None  # sorted upward it would be the first


@pytest.mark.parametrize(("asked", "itself"), [
    ("for row in range(60):\n        print((y[np.argsort(-(z @ z[row]))] == y[row])[:3].float().mean())", True),
    ("for row in range(60):\n        order = np.argsort(-(z @ z[row]))\n        print(y[order[order != row]][:3], y[row])", False),
    ("for row in range(60):\n        print((y[np.argsort(-(z @ z[row]))[1:]] == y[row])[:3].float().mean())", False),
    ("for row in range(60):\n        print((y[60:][np.argsort(-(z[60:] @ z[row]))] == y[row])[:3].float().mean())", False)])
def test_queries_one_by_one(tmp_path: Path, asked: str, *, itself: bool) -> None:
    loop = LOOP.replace("ASKED", "z = z.numpy()\n    " + asked)
    seen = watch(tmp_path, "import numpy as np\n" + HEAD + loop, steps=60, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E529" in found(seen)) is itself, seen.evaluation.gallery
