"""Scalers and tokenizers that are fitted anew for an evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.evaluation_facts import EncodedFacts
from tests.checks.made import healthy, judge
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler
rng = np.random.default_rng(0)
x = rng.normal(3, 2, size=(400, 6))
y = (x[:, 0] + x[:, 1] > 6).astype("int64")
scaler = StandardScaler()
"""
TORCH = DATA + """
import torch, torch.nn as nn
torch.manual_seed(0)
SPLIT
train, test = (torch.tensor(rows, dtype=torch.float32) for rows in (train, test))
wanted = torch.tensor(y)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for rows in torch.randperm(300).split(32):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(train[rows]), wanted[rows]).backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    right = (model(test).argmax(1) == wanted[300:]).float().mean().item()
"""
KERAS = DATA + """
import keras
keras.utils.set_random_seed(0)
SPLIT
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
model.fit(train, y[:300], epochs=3, validation_split=0.2, verbose=0)
model.evaluate(test, y[300:], verbose=0)
"""
ANEW = "test = scaler.fit_transform(x[300:])"
SPLITS = [
    (f"train = scaler.fit_transform(x[:300])\n{ANEW}", True),
    ("train = MinMaxScaler().fit_transform(x[:300])\ntest = MinMaxScaler().fit_transform(x[300:])", True),
    ("train = scaler.fit_transform(x[:300])\ntest = scaler.transform(x[300:])", False),
    # Fitted twice, on the same rows.
    ("train = StandardScaler().fit_transform(x[:300])\ntest = StandardScaler().fit(x[:300]).transform(x[300:])", False),
    # Each person's series is scaled by itself, as it will be for those to come.
    ("train = np.concatenate([StandardScaler().fit_transform(part) for part in np.split(x[:300], 3)])\n" + ANEW, False),
    # The same, where training has not come further than to the first of them.
    (f"train = scaler.fit_transform(x[:300])\nlater = StandardScaler().fit_transform(x[100:200])\n{ANEW}", False)]


@pytest.mark.parametrize(("split", "wrong"), SPLITS)
@pytest.mark.parametrize(("name", "script"), [("torch", TORCH), ("keras", KERAS)])
def test_scalers(tmp_path: Path, name: str, script: str, split: str, *, wrong: bool) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, script.replace("SPLIT", split), probe_seconds=0.5)
    assert seen.exception is None
    assert not [note for note in seen.warnings if "encoded rows" in note]
    assert ("E512" in found(seen)) is wrong, seen.evaluation.encoded
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.code == "E512")
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == split.splitlines()[1]
        assert "E508" not in found(seen)


FOLDS = DATA + """
import torch, torch.nn as nn
from sklearn.model_selection import KFold
torch.manual_seed(0)
for inside, outside in KFold(2).split(x):
    train, test = (torch.tensor(rows, dtype=torch.float32) for rows in (scaler.fit_transform(x[inside]), scaler.transform(x[outside])))
    model = nn.Linear(6, 2)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for rows in torch.randperm(len(train)).split(16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(train[rows]), torch.tensor(y[inside])[rows]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        model(test)
"""


def test_folds(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert "E512" not in found(watch(tmp_path, FOLDS, probe_seconds=0.5))


TEXTS = """
import numpy as np, random
import keras
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.preprocessing.text import Tokenizer
keras.utils.set_random_seed(0)
words = [f"w{number}" for number in range(30)]
texts = [" ".join(random.choices(words, k=random.randint(4, 9))) for _ in range(400)]
y = np.array([int("w3" in text.split() or "w5" in text.split()) for text in texts])
tokenizer = Tokenizer()
tokenizer.fit_on_texts(texts[:300])
train = pad_sequences(tokenizer.texts_to_sequences(texts[:300]), 10)
AGAIN
test = pad_sequences(tokenizer.texts_to_sequences(texts[300:]), 10)
model = keras.Sequential([keras.layers.Embedding(40, 8), keras.layers.GlobalAveragePooling1D(),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
model.fit(train, y[:300], epochs=3, verbose=0)
model.evaluate(test, y[300:], verbose=0)
"""


@pytest.mark.parametrize(("again", "wrong"), [("tokenizer.fit_on_texts(texts[300:])", True), ("", False)])
def test_a_tokenizer(tmp_path: Path, again: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, TEXTS.replace("AGAIN", again), probe_seconds=0.5)
    assert seen.exception is None
    assert ("E512" in found(seen)) is wrong, seen.evaluation.encoded


LAYERS = """
import numpy as np, random
import keras
keras.utils.set_random_seed(0)
words = [f"w{number}" for number in range(30)]
texts = np.array([" ".join(random.choices(words, k=random.randint(4, 9))) for _ in range(400)])
numbers = np.random.default_rng(0).normal(3, 2, size=(400, 10)).astype("float32")
rows = ROWS
y = np.array([int("w3" in text.split()) for text in texts])
layer = keras.layers.LAYER
layer.adapt(rows[:300])
train = np.asarray(layer(rows[:300]))
AGAIN
test = np.asarray(layer(rows[300:]))
given = keras.Input(rows.shape[1:], dtype=rows.dtype if rows.dtype == "float32" else "string")
keras.Model(given, layer(given))
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["accuracy"])
model.fit(train, y[:300], epochs=3, verbose=0)
model.evaluate(test, y[300:], verbose=0)
"""


@pytest.mark.parametrize(("again", "wrong"), [("layer.adapt(rows[300:])", True), ("", False), ("layer.adapt(rows[:300])", False)])
@pytest.mark.parametrize(("layer", "rows"), [("TextVectorization(output_sequence_length=8)", "texts"), ("Normalization()", "numbers")])
def test_layers_that_learn_from_rows(tmp_path: Path, layer: str, rows: str, again: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, LAYERS.replace("LAYER", layer).replace("ROWS", rows).replace("AGAIN", again), probe_seconds=0.5)
    assert seen.exception is None
    assert not [note for note in seen.warnings if "encoded rows" in note]
    assert ("E512" in found(seen)) is wrong, seen.evaluation.encoded


def test_few_rows_tell_nothing() -> None:
    seen = healthy()
    assert "no rows were seen" in judge("E512", seen)
    seen.evaluation.encoded = EncodedFacts(kind="StandardScaler", trained=300, rows=12)
    assert judge("E512", seen) == "clean"
    seen.evaluation.encoded.rows = 40
    assert judge("E512", seen) == "found"


PARTS = [("self.scaler.fit_transform(rows)", True), ("self.scaler.fit_transform(rows) if fresh else self.scaler.transform(rows)", False),
         ("StandardScaler().fit_transform(rows)", False)]  # the last: each part by itself, in training too or not, cannot be told


@pytest.mark.parametrize(("made", "wrong"), PARTS)
def test_one_scaler_that_learns_from_each_part_of_an_evaluation(tmp_path: Path, made: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    split = f"""
class Prepared:
    scaler = StandardScaler()
    def __call__(self, rows, fresh=False):
        return torch.tensor({made}, dtype=torch.float32)
prepare = Prepared()
train, test = prepare(x[:300], fresh=True).numpy(), x[300:]
"""
    text = TORCH.replace("SPLIT", split).replace("right = (model(test).argmax(1) == wanted[300:]).float().mean().item()", """right = 0
    for first in range(0, 100, 20):
        right += (model(prepare(x[300 + first:320 + first])).argmax(1) == wanted[300 + first:320 + first]).sum().item()""")
    seen = watch(tmp_path, text, steps=40, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("E512" in found(seen)) is wrong, seen.evaluation.encoded


OWN_ENCODER = """
import numpy as np
import torch
from sklearn.preprocessing import StandardScaler
torch.manual_seed(0)
class Front:
    def __init__(self):
        self.scaler = StandardScaler()
    def fit_transform(self, rows):
        self.scaler.fit(rows)
        return self.transform(rows)
    def transform(self, rows):
        return self.scaler.transform(rows)
rng = np.random.default_rng(0)
x = rng.normal(3, 2, (500, 4))
y = torch.tensor(x[:, 0] > 3).long()
front = Front()
train_x = front.fit_transform(x[:300])
test_x = front.fit_transform(x[300:] + 1)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for _ in range(3):
    for part in torch.randperm(300).split(30):
        loss = torch.nn.functional.cross_entropy(model(torch.tensor(train_x[part], dtype=torch.float32)), y[:300][part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    print((model(torch.tensor(test_x, dtype=torch.float32)).argmax(1) == y[300:]).float().mean())
"""


def test_the_call_of_a_helper_that_learns_anew(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, OWN_ENCODER, steps=40, probe_seconds=0.5)
    told = next(result.finding for result in walk(seen) if result.code == "E512")
    assert told is not None
    assert told.site is not None
    assert told.site.source == "test_x = front.fit_transform(x[300:] + 1)"
