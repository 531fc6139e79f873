"""Which way of several data went: the call that was under way, what a method makes later, where two ways part."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks import sourcing
from harness.checks.evaluation_facts import SharedFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import sources
from tests.frameworks.test_provenance import chains, told

SEVERAL_CALLS = """
import numpy as np
def run(rows, held):
    x, y = rows[:, 1:], rows[:, 0]
    model.fit(x, y)
whole = read()
launch = read_launch()
run(whole[:80], whole[80:])
run(whole, launch)
"""


@pytest.mark.parametrize(("under_way", "made"), [((5, 8), "whole = read()"), ((5,), None), ((5, 9), "whole = read()")])
def test_of_several_calls_the_one_that_was_under_way(tmp_path: Path, under_way: tuple[int, ...], made: str | None) -> None:
    path = tmp_path / "train.py"
    path.write_text(SEVERAL_CALLS)
    seen = Observation(sites={"fit": Site(file=str(path), line=5, source="model.fit(x, y)")})
    found = sources.of(seen, {"fit": under_way})
    assert [source for kind, source in told(found["inputs"]) if kind == "made"] == ([made] if made else [])


GENERATED = """
import numpy as np
def batches(x, y, order):
    for start in range(0, len(order), 8):
        pick = order[start:start + 8]
        yield np.float32(x[pick]), y[pick]
def learn(x, y):
    for xb, yb in batches(x, y, np.arange(80)):
        loss_fn(model(xb), yb)
rows = read()
learn(rows[:, 1:], rows[:, 0])
"""


def test_rows_of_a_generator_and_the_calls_of_another_place_on_the_line(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(GENERATED)
    seen = Observation(sites={"loss": Site(file=str(path), line=9, source="loss_fn(model(xb), yb)")})
    found = sources.of(seen, {"criterion": (9, 11)})
    for what in ("inputs", "labels"):
        assert ("made", "rows = read()") in told(found[what]), told(found[what])
        assert any(kind == "reordered" and "yield" in source for kind, source in told(found[what]))


LAMBDAS = """
import numpy as np
def prepare():
    table, target = read()
    mixed = table.sample(frac=1.0)
    return mixed, target
def learn(x, y):
    loss_fn(model(x), y)
features, target = prepare()
as_x = lambda rows: np.float32(features[rows])
as_y = lambda rows: np.float32(target[rows])
chosen = np.arange(80)
learn(as_x(chosen), as_y(chosen))
"""


def test_functions_that_are_written_as_lambdas(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(LAMBDAS)
    seen = Observation(sites={"loss": Site(file=str(path), line=8, source="loss_fn(model(x), y)")})
    seen.sources = sources.of(seen)
    apart = sourcing.apart(seen)
    assert apart is not None
    assert apart.source == "mixed = table.sample(frac=1.0)"


SEQUENCE = """
import keras, numpy as np
class Batches(keras.utils.PyDataset):
    def __init__(self, x, y, batch):
        super().__init__()
        self.x, self.y, self.batch = x, y, batch
    def __getitem__(self, i):
        rows = slice(i * self.batch, (i + 1) * self.batch)
        xb, yb = self.x[rows], self.y[rows]
        xb = xb[:, ::-1]
        return xb, yb
    def on_epoch_end(self):
        order = np.random.permutation(len(self.x))
        self.x = self.x[order]
        MORE
x, y = read(), read_labels()
model.fit(Batches(x, y, 32))
"""


@pytest.mark.parametrize(("more", "apart"), [("pass", "self.x = self.x[order]"), ("self.y = self.y[order]", None)])
def test_what_a_method_makes_of_an_attribute_later(tmp_path: Path, more: str, apart: str | None) -> None:
    found = chains(tmp_path, SEQUENCE.replace("MORE", more), "fit", ".fit(")
    place = sourcing.apart(Observation(sources=found))
    assert (place.source if place is not None else None) == apart


LISTED = """
from datasets import Dataset
def example(notes):
    return {
        "input_ids": notes[:-1],
        "labels": notes[1:],
    }
def build(n):
    return Dataset.from_list([example(read(k)) for k in range(n)])
trainer = Trainer(model=model, args=args, train_dataset=build(100))
"""


def test_rows_that_a_function_makes_for_a_list(tmp_path: Path) -> None:
    found = chains(tmp_path, LISTED, "trainer", "trainer = ")
    assert [step.site.source for step in found["labels"] if step.kind == "taken"] == ['"labels": notes[1:],']
    assert [step.site.source for step in found["inputs"] if step.kind == "taken"] == ['"input_ids": notes[:-1],']


METHODS = """
class Model:
    def features(self, table):
        return table.drop(columns="fraud").to_numpy()
    def fit(self, table):
        x = self.scaler.fit_transform(self.features(table))
        self.net.fit(x, table.fraud.to_numpy())
    def score(self, table):
        return self.net.predict(self.scaler.transform(self.features(table)))
claims = balance(read())
train, test = train_test_split(claims, test_size=0.25)
model = Model().fit(train)
model.score(test)
"""


def test_helpers_that_both_go_through_stand_after_their_split(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(METHODS)
    places = {"fit": (7, "self.net.fit(x, table.fraud.to_numpy())"), "evaluation": (9, "return self.net.predict(...)")}
    seen = Observation(sites={name: Site(file=str(path), line=line, source=source) for name, (line, source) in places.items()})
    seen.evaluation.shared = SharedFacts(rows=80, shared=40, trained=240)
    seen.sources = sources.of(seen, {"fit": (7, 12), "evaluation": (9, 13)})
    found = sourcing.common(seen)
    assert found is not None
    assert found.source == "claims = balance(read())"


MAPPED = """
import numpy as np
import torch
rows = read()
labels = np.sort(read_labels())
x, y = map(torch.from_numpy, (rows, labels))
loss_fn(model(x), y)
"""


def test_one_function_for_several_values(tmp_path: Path) -> None:
    """`map` over what is written out gives each of them in its place."""
    path = tmp_path / "train.py"
    path.write_text(MAPPED)
    found = sources.of(Observation(sites={"loss": Site(file=str(path), line=7, source="loss_fn(model(x), y)")}), {})
    assert ("made", "rows = read()") in told(found["inputs"])
    assert ("reordered", "labels = np.sort(read_labels())") in told(found["labels"])
    assert not any(kind == "reordered" for kind, _ in told(found["inputs"]))


HANDED = """
def take(columns, chosen):
    return {name: values[chosen] for name, values in columns.items()}
columns, marks = load()
for order in batches(len(marks)):
    loss = loss_fn(net(GIVEN), marks[order])
"""


@pytest.mark.parametrize(("given", "alone"), [("take(columns, order)", False), ("columns", True)])
def test_an_order_that_is_handed_to_a_function(tmp_path: Path, given: str, *, alone: bool) -> None:
    found = chains(tmp_path, HANDED.replace("GIVEN", given), "loss", "loss_fn(")
    assert (sourcing.apart(Observation(sources=found)) is not None) is alone


SEVERAL = """
def framed(targets):
    begun = np.concatenate([start, targets], axis=1)
    return begun[:, 1:]
x, y = load()
model.fit([x, framed(y)], y)
"""


def test_inputs_in_a_list_are_followed_each(tmp_path: Path) -> None:
    found = chains(tmp_path, SEVERAL, "fit", "fit(")
    assert ("taken", "return begun[:, 1:]") in told(found["inputs"], taken=True)
    place = sourcing.sliced(Observation(sources=found))
    assert place is not None
    assert place.source == "return begun[:, 1:]"
