"""Rows of an evaluation that are trained on as well, in both frameworks and for themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.checks.evaluation_facts import SharedFacts
from harness.frameworks.watch.shared_rows import SharedRows
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch

TORCH = """
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from sklearn.model_selection import train_test_split
from sklearn.utils import resample
rng = np.random.default_rng(0)
x = rng.normal(size=(600, 6)).astype("float32")
y = (x[:, 0] + x[:, 1] > 1.8).astype("float32")
def balance(x, y):
    more = resample(np.flatnonzero(y == 1), n_samples=int((y == 0).sum()), random_state=0)
    rows = np.concatenate([np.flatnonzero(y == 0), more])
    return x[rows], y[rows]
BEFORE
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, stratify=y, random_state=0)
AFTER
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.tensor(x_train), torch.tensor(y_train))
rows = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for xb, yb in rows:
        loss = F.binary_cross_entropy_with_logits(model(xb).squeeze(1), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    print(((model(torch.tensor(x_test)).squeeze(1) > 0).float().numpy() == y_test).mean())
"""
KERAS = """
import keras, numpy as np, tensorflow as tf
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 6)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int64")
rows = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(400, seed=1ONCE)
held, train = rows.take(80).batch(40), rows.skip(80).batch(40)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, validation_data=held, epochs=4, verbose=0)
"""
BALANCE = "x, y = balance(x, y)"


@pytest.mark.parametrize(("before", "after", "wrong"), [(BALANCE, "", True), ("", "x_train, y_train = balance(x_train, y_train)", False)])
def test_rows_that_are_repeated(tmp_path: Path, before: str, after: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("BEFORE", before).replace("AFTER", after), probe_seconds=0.5)
    assert seen.evaluation.shared is not None, seen.warnings
    assert ("E510" in found(seen)) is wrong, seen.evaluation.shared
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "E510")
        assert told is not None
        assert told.site is not None
        assert told.site.source == BALANCE


FOLDS = """
import keras, numpy as np
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
rng = np.random.default_rng(0)
def read(rows):
    x = rng.normal(size=(rows, 6))
    return np.concatenate([x, (x[:, :1] + x[:, 1:2] > 1.2).astype(float)], axis=1)
def balance(table):
    few, many = table[table[:, 6] > 0], table[table[:, 6] == 0]
    return rng.permutation(np.concatenate([many, few[rng.integers(0, len(few), len(many))]]))
def run(train, test):
    scaler = StandardScaler().fit(train[:, :6])
    x_train, x_test = scaler.transform(train[:, :6]), scaler.transform(test[:, :6])
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy")
    model.fit(x_train, train[:, 6], epochs=3, verbose=0)
    return ((model.predict(x_test, verbose=0)[:, 0] > 0.5) == test[:, 6]).mean()
table, launch = read(500), read(200)
BEFORE
for fitted, held in KFold(3, shuffle=True, random_state=0).split(table):
    score = run(WITHIN(table[fitted]), table[held])
run(table, launch)
"""


@pytest.mark.parametrize(("before", "within", "wrong"), [("table = balance(table)", "", True), ("", "balance", False)])
def test_rows_of_doubles_that_keras_trains_on_as_floats(tmp_path: Path, before: str, within: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, FOLDS.replace("BEFORE", before).replace("WITHIN", within), probe_seconds=0.5)
    assert seen.evaluation.shared is not None, seen.warnings
    assert ("E510" in found(seen)) is wrong, seen.evaluation.shared
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "E510")
        assert told is not None
        assert told.site is not None
        assert told.site.source == before


@pytest.mark.parametrize(("once", "wrong"), [("", True), (", reshuffle_each_iteration=False", False)])
def test_a_split_that_is_drawn_anew(tmp_path: Path, once: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("ONCE", once), probe_seconds=0.5)
    assert seen.evaluation.shared is not None, seen.warnings
    assert ("E510" in found(seen)) is wrong, seen.evaluation.shared
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "E510")
        assert told is not None
        assert told.site is not None
        assert ".shuffle(" in told.site.source


class _Model:
    pass


def _seen(trained: np.ndarray, *held: np.ndarray) -> SharedFacts | None:
    model, seen = _Model(), SharedRows()
    for start in range(0, len(trained), 20):
        seen.trained(model, [trained[start:start + 20]])
    for rows in held:
        seen.held(model, [rows])
    return seen.facts()


def test_what_is_shared() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 5)).astype("float32")
    assert _seen(rows[:160], rows[160:]) == SharedFacts(rows=40, shared=0, trained=160)
    assert _seen(rows[:160], rows[140:180]) == SharedFacts(rows=40, shared=20, trained=160)
    assert _seen(rows[:160], rows[:160]) == SharedFacts(own=160)  # how well the training rows are known
    assert _seen(rows[:160], rows[:160], rows[160:]) == SharedFacts(rows=40, shared=0, trained=160)
    assert _seen(rows[:160], rows) is None  # all the rows there are
    known = rows[:160]
    model, seen = _Model(), SharedRows()
    for start in range(0, 140, 20):  # the last ones went by at full speed
        seen.trained(model, [known[start:start + 20]])
    for source, asked in (("training", known), ("test", rows[120:200]), ("later", rows[160:])):
        seen.held(model, [asked], source)
    assert seen.facts() == SharedFacts(rows=80, shared=20, trained=140)
    few = np.sign(rows)
    facts = _seen(few[:160], few[160:])
    assert facts is None or facts.alike  # rows of so few values are alike by chance


def test_folds_with_weights_that_are_put_back() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 5)).astype("float32")
    model, seen = _Model(), SharedRows()
    for fold in range(4):
        own = np.zeros(200, dtype=bool)
        own[fold * 50:fold * 50 + 50] = True
        seen.trained(model, [rows[~own]])
        seen.held(model, [rows[own]])
    assert seen.facts() == SharedFacts(rows=50, shared=0, trained=150)


@pytest.mark.parametrize(("every", "acts"), [(1, True), (2, True), (9, False)])
def test_passes_that_belong_to_a_step(every: int, *, acts: bool) -> None:
    """An agent asks what the states are worth that it goes on to; those of other episodes are in what it is trained on."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(4000, 5)).astype("float32")
    model, seen = _Model(), SharedRows()
    for step in range(60):
        drawn = rng.permutation(4000)[:90]
        if step % every == 0:
            seen.held(model, [np.concatenate([states[drawn[:20]], rng.normal(size=(60, 5)).astype("float32")])])
        seen.trained(model, [states[drawn]])
    facts = seen.facts()
    assert (facts is None) is acts, facts


def test_how_many_count() -> None:
    seen = healthy()
    seen.evaluation.shared = SharedFacts(rows=300, shared=12, trained=600)
    assert judge("E510", seen) == "clean"
    seen.evaluation.shared.shared = 90
    assert "90 of 300 rows" in finding("E510", seen).message
    seen.evaluation.shared.alike = True
    assert "by chance" in judge("E510", seen)


def test_a_script_that_is_ended_within_a_step() -> None:
    """An agent asks what its next states are worth, which were trained on before, and is stopped before it goes backward."""
    rows = np.random.default_rng(0).normal(size=(200, 5)).astype("float32")
    model, seen = _Model(), SharedRows()
    for start in range(0, 160, 20):
        seen.trained(model, [rows[start:start + 20]])
    seen.held(model, [np.concatenate([rows[:18], rows[180:182]])])
    assert seen.facts(cut=True) is None


@pytest.mark.parametrize(("columns", "values", "alike"), [(10, 12, False), (5, 4, True), (12, 2, True)])
def test_rows_of_whole_numbers(columns: int, values: int, *, alike: bool) -> None:
    """No column tells all rows apart. Where all columns together do, by far, a row that comes again is the same row."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, values, (700, columns)).astype("float32")
    facts = _seen(rows[:500], rows[400:600])
    assert facts is not None
    assert facts.shared >= 100
    assert facts.alike is alike
