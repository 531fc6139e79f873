"""Where labels and inputs come from, read off a script's text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from harness.checks import sourcing
from harness.checks.data_facts import SourceFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import sources
from harness.frameworks.watch.provenance import Text

ARRAYS = """
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

def load(n):
    x = np.random.rand(n, 3)
    stars = np.clip(x.sum(1), 1, 5)
    return x, stars

x, stars = load(100)
y = torch.tensor(stars)
train, test = random_split(TensorDataset(torch.from_numpy(x), y), [80, 20])
loader = DataLoader(train, batch_size=8)
for number, (xb, yb) in enumerate(loader):
    xb, yb = xb.to("cpu"), yb.to("cpu")
    out = model(xb)
    loss = criterion(out, yb)
"""
MOVED = """
import numpy as np
labels = np.arange(100) % 4
rows = make(labels)
rows = rows[np.random.permutation(len(rows))]
chosen = np.random.permutation(100)
x, y = rows[chosen], labels[chosen]
model.fit(x, y)
"""
FRAME = """
import pandas as pd
from datasets import Dataset
frame = pd.read_csv("rows.csv")
frame["label"] = frame["kind"].map({"a": 0})
texts = frame["text"].sample(frac=1.0).tolist()
encoded = tokenizer(texts, padding=True)
data = Dataset.from_dict({"input_ids": encoded["input_ids"], "labels": list(frame["label"])})
parts = data.train_test_split(0.2)
trainer = Trainer(model=model, train_dataset=parts["train"])
"""
OWN = """
import torch
class Rows(torch.utils.data.Dataset):
    def __init__(self, values, marks):
        self.values = torch.tensor(values)
        self.marks = torch.tensor(marks) + 1
    def __getitem__(self, number):
        return self.values[number], self.marks[number]
given, marks = read(), [1, 2, 3]
loader = torch.utils.data.DataLoader(Rows(given, marks))
def step(batch):
    a, b = batch
    return loss_fn(model(a), b)
for batch in loader:
    step(batch)
"""
PLACE = """
import random
def labels_of(n):
    found = [k % 3 for k in range(n)]
    random.shuffle(found)
    return found
table = {}
table["y"] = labels_of(20)
table["x"] = [float(k) for k in range(20)]
x_train, x_test, y_train, y_test = train_test_split(table["x"], table["y"])
model.fit(x=x_train[:8], y=y_train[:8], epochs=2)
"""
PICKED = """
import random
from datasets import Dataset
texts, marks = read(), [0, 1] * 50
random.shuffle(texts)
def build(rows, ys):
    return Dataset.from_dict({"input_ids": [[ids[w] for w in row] for row in rows], "label": ys})
order = list(range(100))
random.shuffle(order)
texts = [texts[k] for k in order]
marks = [marks[k] for k in order]
train, test = build(texts[:80], marks[:80]), build(texts[80:], marks[80:])
trainer = Trainer(model=model, train_dataset=train, eval_dataset=test)
"""
SORTED = """
import torch
def prepare(table):
    target = table.pop("y").to_numpy()
    table = table.sort_values("day").reset_index(drop=True)
    return table.to_numpy(), target.astype("float32")
def halves(x, y):
    return (x[:8], y[:8]), (x[8:], y[8:])
def train(model, loader):
    model.train()
    for xb, yb in loader:
        out = model(xb).squeeze(1)
        loss_fn(out, yb)
x, y = prepare(read())
(x_train, y_train), rest = halves(x, y)
train(net, DataLoader(TensorDataset(torch.from_numpy(x_train), torch.from_numpy(y_train))))
"""
FILLED = """
import numpy as np
def encode(rows):
    marks = np.full((len(rows), 8), -100)
    for number, row in enumerate(rows):
        marks[number, : len(row)] = row
    return marks
y = encode(read())
model.fit(x, y)
"""


def chains(tmp_path: Path, text: str, name: str, part: str) -> dict[str, list[SourceFacts]]:
    script = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"
    script.write_text(text)
    line = next(number for number, source in enumerate(text.splitlines(), 1) if part in source)
    return sources.of(Observation(sites={name: Site(file=str(script), line=line)}))


def told(found: list[SourceFacts], *, taken: bool = False) -> list[tuple[str, str]]:
    return [(step.kind, step.site.source) for step in found if taken or step.kind not in ("taken", "called")]


def test_through_loaders_splits_and_functions(tmp_path: Path) -> None:
    found = chains(tmp_path, ARRAYS, "loss", "criterion(")
    assert told(found["labels"])[:2] == [("converted", "y = torch.tensor(stars)"), ("made", "stars = np.clip(x.sum(1), 1, 5)")]
    assert told(found["inputs"])[0][0] == "converted"
    assert told(found["inputs"])[1] == ("made", "x = np.random.rand(n, 3)")


def test_an_order_that_only_one_of_them_is_put_into(tmp_path: Path) -> None:
    found = chains(tmp_path, MOVED, "fit", "fit(")
    place = sourcing.apart(Observation(sources=found))
    assert place is not None
    assert place.source == "rows = rows[np.random.permutation(len(rows))]"
    assert "only the inputs are put into this order, line 5" in sourcing.orders(Observation(sources=found))[0]
    found["labels"] = [step for step in found["labels"] if step.kind != "made"]  # whose way is not known to its end
    assert sourcing.apart(Observation(sources=found)) is None
    together = chains(tmp_path, MOVED.replace("rows = rows[np.random.permutation(len(rows))]", ""), "fit", "fit(")
    assert [step.by for step in together["labels"] if step.kind == "reordered"] == ["chosen"]
    assert sourcing.apart(Observation(sources=together)) is None


def test_columns_of_a_frame_in_a_dataset(tmp_path: Path) -> None:
    found = chains(tmp_path, FRAME, "trainer", "Trainer(")
    assert told(found["labels"])[0][1].startswith('frame["label"]')
    place = sourcing.apart(Observation(sources=found))
    assert place is not None
    assert place.source.startswith("texts =")


def test_rows_of_a_dataset_of_one_s_own_and_a_step_in_a_function(tmp_path: Path) -> None:
    found = chains(tmp_path, OWN, "loss", "loss_fn(")
    assert told(found["labels"])[0] == ("made", "self.marks = torch.tensor(marks) + 1")
    assert told(found["inputs"])[0] == ("converted", "self.values = torch.tensor(values)")
    assert found["labels"][0].site.line == OWN.splitlines().index("    a, b = batch") + 1


def test_rows_that_are_moved_where_they_are(tmp_path: Path) -> None:
    found = chains(tmp_path, PLACE, "fit", "fit(")
    assert ("reordered", "random.shuffle(found)") in told(found["labels"])
    assert "reordered" not in {step.kind for step in found["inputs"]}


def test_the_call_that_was_come_from_and_an_order_of_both(tmp_path: Path) -> None:
    found = chains(tmp_path, PICKED, "trainer", "Trainer(")
    assert [step.by for step in found["labels"] if step.kind == "reordered"] == ["order"]
    place = sourcing.apart(Observation(sources=found))
    assert place is not None
    assert place.source == "random.shuffle(texts)"


def test_functions_of_functions_and_methods_of_their_name(tmp_path: Path) -> None:
    found = chains(tmp_path, SORTED, "loss", "loss_fn(")
    place = sourcing.apart(Observation(sources=found))
    assert place is not None
    assert place.source.startswith("table = table.sort_values")
    assert told(found["labels"])[-1] == ("made", 'target = table.pop("y").to_numpy()')


GROUPS = """
import numpy as np
groups = log.groupby("tag")
x = np.stack([group[columns].to_numpy() for _, group in groups])
y = log.drop_duplicates("tag")["grade"].to_numpy()
model.fit(x, y)
"""
BOTH = """
import numpy as np
x = np.stack([group[columns].to_numpy() for _, group in log.groupby("tag")])
y = log.groupby("tag")["grade"].first().to_numpy()
model.fit(x, y)
"""
ROWS = """
import torch
mean_star = stars.groupby("order")["star"].mean().reset_index()
comments["label"] = (mean_star["star"] >= 3).astype(int)
class Comments(torch.utils.data.Dataset):
    def __init__(self, frame):
        self.rows = [dict(encode(c), labels=int(l)) for c, l in zip(frame["comment"], frame["label"])]
    def __getitem__(self, i):
        return {k: torch.tensor(v) for k, v in self.rows[i].items()}
trainer = Trainer(model=model, train_dataset=Comments(comments[:1300]), eval_dataset=Comments(comments[1300:]))
"""


def test_groups_come_sorted_by_their_key(tmp_path: Path) -> None:
    place = sourcing.apart(Observation(sources=chains(tmp_path, GROUPS, "fit", "fit(")))
    assert place is not None
    assert place.source == 'groups = log.groupby("tag")'
    (tmp_path / "both").mkdir()
    assert sourcing.apart(Observation(sources=chains(tmp_path / "both", BOTH, "fit", "fit("))) is None


def test_labels_through_the_rows_that_a_dataset_makes(tmp_path: Path) -> None:
    found = chains(tmp_path, ROWS, "trainer", "Trainer(")
    place = sourcing.apart(Observation(sources=found))
    assert place is not None
    assert place.source.startswith("mean_star = stars.groupby")
    assert not [step for step in found["inputs"] if step.kind == "reordered"]


COLLATED = """
import torch
class Collate:
    def __call__(self, rows):
        ids = [torch.tensor(encode(words)) for words, _ in rows]
        ids = pad([ids[k] for k in torch.randperm(len(rows))])
        return ids, torch.tensor([mark for _, mark in rows])
rows = list(zip(texts, read_marks()))
collate = Collate()
for ids, marks in DataLoader(rows, batch_size=8, collate_fn=collate):
    scores = model(ids)
    loss = F.cross_entropy(scores.transpose(1, 2), marks)
"""


def test_through_a_collator(tmp_path: Path) -> None:
    found = chains(tmp_path, COLLATED, "loss", "cross_entropy(")
    place = sourcing.apart(Observation(sources=found))
    assert place is not None
    assert place.source == "ids = pad([ids[k] for k in torch.randperm(len(rows))])"
    assert told(found["labels"])[0] == ("converted", "return ids, torch.tensor([mark for _, mark in rows])")
    assert "rows = list(zip(texts, read_marks()))" in [source for _, source in told(found["labels"])]


TABLE = """
import numpy as np
import torch
class Rows(torch.utils.data.Dataset):
    def __init__(self, table):
        self.table = torch.from_numpy(table)
    def __getitem__(self, row):
        return self.table[row, :-1], self.last(row)
    def last(self, row):
        return self.table[row, -1]
table = np.hstack([read(), marks()]).astype(np.float32)
for xb, yb in DataLoader(Rows(table)):
    loss = F.cross_entropy(model(xb), yb)
"""


STARS = """
from datasets import Dataset
frame = read()
frame["label"] = frame["stars"]
rows = Dataset.from_pandas(frame[["text", "label"]])
rows = rows.map(lambda batch: tokenizer(batch["text"]), batched=True)
trainer = Trainer(model=model, train_dataset=rows)
"""


def test_a_map_that_leaves_the_labels_alone(tmp_path: Path) -> None:
    found = chains(tmp_path, STARS, "trainer", "Trainer(")
    assert ("made", 'frame["label"] = frame["stars"]') in told(found["labels"])
    assert not [source for _, source in told(found["labels"]) if ".map(" in source]
    changed = chains(tmp_path, STARS.replace('tokenizer(batch["text"])', '{"label": shift(batch)}'), "trainer", "Trainer(")
    assert [source for _, source in told(changed["labels"]) if ".map(" in source]


def test_the_line_on_which_labels_part_from_inputs(tmp_path: Path) -> None:
    seen = Observation(sources=chains(tmp_path, TABLE.replace("self.last(row)", "self.table[row, -1]"), "loss", "cross_entropy("))
    both = Site(file=seen.sources["labels"][0].site.file, line=11, source="table = ...")
    assert sourcing.parted(seen, both) == both  # on one line
    apart = TABLE.replace("        return self.table[row, :-1], self.last(row)\n",
                          "        x = self.table[row, :-1]\n        y = self.table[row, -1]\n        return x, y\n")
    seen = Observation(sources=chains(tmp_path, apart, "loss", "cross_entropy("))
    both = Site(file=seen.sources["labels"][0].site.file, line=13, source="table = ...")
    assert sourcing.parted(seen, both).source == "y = self.table[row, -1]"
    own = next(step.site for step in seen.sources["labels"] if step.site.source == "y = self.table[row, -1]")
    assert sourcing.parted(seen, own) == own


def test_what_compiles_a_model_tells_nothing_of_its_data(tmp_path: Path) -> None:
    assert chains(tmp_path, 'model.compile("adam", "mse")\n', "loss", "compile(") == {}


def test_an_array_that_is_filled_where_it_is(tmp_path: Path) -> None:
    found = chains(tmp_path, FILLED, "fit", "fit(")
    assert told(found["labels"]) == [("made", "marks[number, : len(row)] = row"), ("made", "marks = np.full((len(rows), 8), -100)")]


def test_what_cannot_be_told_is_left_out(tmp_path: Path) -> None:
    assert chains(tmp_path, "model.fit(*given)\n", "fit", "fit(") == {}
    assert chains(tmp_path, "step()\n", "loss", "step(") == {}
    assert sources.of(Observation()) == {}
    in_notebook = Observation(sites={"fit": Site(file="book.ipynb", line=1, cell=2)})
    assert sources.of(in_notebook) == {}


@pytest.mark.parametrize("text", ["def f(a):\n    return f(a)\nx = f(x)\nmodel.fit(x, f(x))\n", "y = y\nfor y in y:\n    loss_fn(y, y)\n",
                                  "a = b\nb = a\nloss_fn(a, b)\n", "x[0], *rest = x\nmodel.fit(rest, x)\n",
                                  "loss_fn(lambda v: v, (yield))\n"])
def test_circles_end(text: str) -> None:
    tree = ast.parse(text)
    read = Text(tree)
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        for value in call.args:
            assert len(read.steps(value)) < 200


PUT = """
import numpy as np
windows, answers = [], []
for i in range(len(series) - 24):
    windows.append(series[i:i + 24])
    answers.append(series[i + 24])
frame = table.drop(columns=["id"])
x, y = np.array(windows), np.array(answers)
model.fit(x, y)
"""


def test_what_is_put_into_a_list(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(PUT)
    found = sources.of(Observation(sites={"fit": Site(file=str(path), line=9, source="model.fit(x, y)")}))
    assert [(step.site.line, step.kind) for step in found["labels"] if step.kind == "made"] == [(6, "made")]
    assert not sourcing.apart(Observation(sources=found))


DICT = """
import tensorflow as tf
def batches(lines, shuffle=True):
    features = {"input_ids": lines[:, :-1], "attention_mask": ones(lines), "labels": lines[:, 1:]}
    rows = tf.data.Dataset.from_tensor_slices(features)
    return rows.shuffle(100).batch(8)
lines = read()
model.fit(batches(lines), epochs=2)
"""


def test_labels_among_the_inputs_of_a_model(tmp_path: Path) -> None:
    found = chains(tmp_path, DICT, "fit", "fit(")
    place = sourcing.shifted(Observation(sources=found))
    assert place is not None
    assert place.source.startswith('features = {"input_ids"')
