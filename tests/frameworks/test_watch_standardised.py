"""Rows of an evaluation that are standardised by a mean and a deviation of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.evaluation_facts import RelationFacts, StandardisedFacts
from harness.frameworks.watch.standardised import written
from tests.checks.made import healthy
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, walk, watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
def season(rows, warm):
    x = rng.normal(warm, 1.0, (rows, 5)) * [1, 2, 3, 1, 2] + 40
    return x.astype("float32"), (x[:, 0] + 0.3 * rng.normal(size=rows) > 42).astype("int64")
parts = [season(160, warm) for warm in (0, 1, 2, 3, 4)]
x_train, y_train = (np.concatenate(part) for part in zip(*parts))
x_test, y_test = season(200, 3.5)
def standardise(table):
    return (table - table.mean(axis=0)) / (table.std(axis=0) + 1e-8)
class Scaler:
    def __call__(self, table, fit=True):
        if fit:
            self.mean, self.std = table.mean(0), table.std(0)
        return (table - self.mean) / self.std
scaler = Scaler()
class Table:
    def __init__(self, values):
        self.columns = {name: values[:, name] for name in range(values.shape[1])}
    @property
    def moments(self):
        return {name: (column.mean(), column.std()) for name, column in self.columns.items()}
    def scaled(self, moments):
        return np.stack([(column - moments[name][0]) / moments[name][1] for name, column in self.columns.items()], 1)
PREPARED
"""
TORCH = DATA + """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
x, y = torch.tensor(x_train, dtype=torch.float32), torch.tensor(y_train)
for epoch in range(4):
    model.train()
    for rows in torch.randperm(len(x)).split(40):
        optimizer.zero_grad()
        F.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        given = torch.tensor(x_test, dtype=torch.float32)
        answers = torch.cat([model(part) for part in given.split(64)]).argmax(1)
    print(epoch, (answers == torch.tensor(y_test)).float().mean().item())
"""
KERAS = DATA + """
import keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Dense(16, "relu"), keras.layers.Dense(2)])
model.compile(keras.optimizers.Adam(2e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=40, epochs=3, verbose=0)
print(model.evaluate(x_test, y_test, verbose=0))
"""
APART = {
    "a function": ("x_train, x_test = standardise(x_train), standardise(x_test)", "return (table - table.mean(axis=0))"),
    "an object": ("x_train = scaler(x_train)\nx_test = scaler(x_test)", "x_test = scaler(x_test)"),
    "beside each other": (
        "x_train = (x_train - x_train.mean(0)) / x_train.std(0)\nx_test = (x_test - np.mean(x_test, axis=0)) / x_test.std(0)",
        "x_test = (x_test")}
RIGHT = {
    "by the training's": "x_train = scaler(x_train)\nx_test = scaler(x_test, fit=False)",
    "by names": "mean, std = x_train.mean(0), x_train.std(0)\nx_train, x_test = (x_train - mean) / std, (x_test - mean) / std",
    "all rows together": "both = standardise(np.concatenate([x_train, x_test]))\nx_train, x_test = np.split(both, [len(x_train)])",
    "the training itself": "x_train = standardise(x_train)\nx_test, y_test = x_train, y_train\nx_other = standardise(x_train[:9])"}


@pytest.mark.parametrize(("prepared", "line"), [*APART.values(), *((text, None) for text in RIGHT.values())], ids=[*APART, *RIGHT])
def test_torch(tmp_path: Path, prepared: str, line: str | None) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("PREPARED", prepared), steps=100, probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E512" in found(seen)) is (line is not None), seen.evaluation.relation
    if line is not None:
        told = next(result.finding for result in walk(seen) if result.finding)
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith(line)


@pytest.mark.parametrize(("prepared", "fault"), [(APART["a function"][0], True), (RIGHT["by the training's"], False)])
def test_keras(tmp_path: Path, prepared: str, *, fault: bool) -> None:
    pytest.importorskip("keras")
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("PREPARED", prepared), steps=100)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E512" in found(seen)) is fault, seen.evaluation.relation


@pytest.mark.parametrize("fault", [True, False])
def test_columns_by_name(tmp_path: Path, *, fault: bool) -> None:
    pytest.importorskip("torch")
    owner = "t" if fault else "tables[0]"
    prepared = f"tables = [Table(x_train), Table(x_test)]\nx_train, x_test = (t.scaled({owner}.moments) for t in tables)"
    text = TORCH.replace("    return (table - table.mean(axis=0)) / (table.std(axis=0) + 1e-8)", "    pass").replace(
        "self.mean, self.std = table.mean(0), table.std(0)", "pass").replace("PREPARED", prepared)
    seen = watch(tmp_path, text, steps=100, probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E512" in found(seen)) is fault, seen.evaluation.relation


@pytest.mark.parametrize(("errors", "fault"), [((1.0, 4.0), True), ((1.0, 1.5), False), (None, False)])
def test_of_numbers_the_errors_tell(errors: tuple[float, float] | None, *, fault: bool) -> None:
    seen = healthy()
    seen.evaluation.standardised = StandardisedFacts(rows=200, columns=5, whole=False, unread=True)
    seen.evaluation.relation = RelationFacts(trained=0.9, trained_rows=600, held=0.9, rows=200, errors=errors)
    assert ("E512" in found(seen)) is fault


@pytest.mark.parametrize(("calls", "line"), [
    ("tables = [standardise(read(person)) for person in people]\nothers = [standardise(read(person)) for person in rest]", None),
    ("train = standardise(read(0))\nothers = [standardise(read(year)) for year in rest]", 2), ("train = standardise(read(0))", None),
    ("", None)], ids=["each person", "the training as one", "once", "never"])
def test_what_a_script_says(tmp_path: Path, calls: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"def standardise(table):\n    mean, std = table.mean(0), table.std(0)\n    return (table - mean) / std\n{calls}\n")
    place = written(script)
    assert (place[1] if place is not None else None) == line
