"""Columns of ids whose values are numbered once for the training and once more for the evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np, pandas as pd
from sklearn.preprocessing import LabelEncoder
rng = np.random.default_rng(0)
users, movies = rng.integers(0, 60, 3000), rng.integers(0, 40, 3000)
liked, good = rng.normal(size=60), rng.normal(size=40)
table = pd.DataFrame({"user": [f"u{u:03d}" for u in users], "movie": [f"m{m:03d}" for m in movies],
                      "stars": (liked[users] + good[movies]).astype("float32")})
known = LabelEncoder().fit(table["user"])
def numbered(part):
    part = part.copy()
    part["u"], part["m"] = (NUMBER for name in ("user", "movie"))
    return part
def one(part):
    train, test = part.iloc[:2400], part.iloc[2400:]
    return train, test
PARTS
"""
APART = "train, test = map(numbered, one(table))"
TOGETHER = "train, test = one(numbered(table))"
TORCH = DATA + """
import torch, torch.nn as nn
torch.manual_seed(0)
def tensors(part):
    return tuple(torch.tensor(part[name].to_numpy().copy()) for name in ("u", "m", "stars"))
class Ratings(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.movie = nn.Embedding(60, 1), nn.Embedding(40, 1)
    def forward(self, u, m):
        return (self.user(u) + self.movie(m)).squeeze(-1)
model = Ratings()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
train, test = tensors(train), tensors(test)
for epoch in range(6):
    for rows in torch.randperm(2400).split(64):
        u, m, y = (part[rows] for part in train)
        loss = (model(u.long(), m.long()) - y).pow(2).mean() + 0.001 * model.user(u.long()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    error = (model(test[0].long(), test[1].long()) - test[2]).pow(2).mean().item()
"""
KERAS = DATA + """
import keras
keras.utils.set_random_seed(0)
u, m = keras.Input((1,), dtype="int32"), keras.Input((1,), dtype="int32")
parts = [keras.layers.Flatten()(keras.layers.Embedding(n, 1)(x)) for n, x in ((60, u), (40, m))]
model = keras.Model([u, m], keras.layers.Add()(parts))
model.compile(keras.optimizers.Adam(0.05), "mse")
model.fit([train["u"].to_numpy(), train["m"].to_numpy()], train["stars"].to_numpy(), batch_size=64, epochs=2, verbose=0)
model.evaluate([test["u"].to_numpy(), test["m"].to_numpy()], test["stars"].to_numpy(), batch_size=64, verbose=0)
"""
FACTORIZED, OF_SERIES = "pd.factorize(part[name])[0]", "part[name].factorize()[0]"
ENCODED = "LabelEncoder().fit_transform(part[name])"
SOME = 'table = table[(table.index < 2400) | (table["user"] > "u010")]\n'


@pytest.mark.parametrize(("number", "parts", "wrong"), [
    (FACTORIZED, APART, True), (OF_SERIES, APART, True), (FACTORIZED, TOGETHER, False), (OF_SERIES, TOGETHER, False),
    ('part[name].astype("category").cat.codes', SOME + APART, True), (ENCODED, SOME + APART, True),
    ('part[name].astype("category").cat.codes', APART, False), (ENCODED, APART, False), (ENCODED, SOME + TOGETHER, False),
    ('pd.Categorical(part[name], categories=sorted(table[name].unique())).codes', SOME + APART, False)])
def test_a_loop(tmp_path: Path, number: str, parts: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("NUMBER", number).replace("PARTS", parts)
    seen = watch(tmp_path, text, steps=60, probe_seconds=0.3)
    assert seen.warnings == []
    assert (seen.evaluation.numbered is not None) is wrong
    assert ("E512" in found(seen)) is wrong
    if seen.evaluation.numbered is not None and seen.evaluation.numbered.site is not None:
        assert number in seen.evaluation.numbered.site.source


@pytest.mark.parametrize(("parts", "wrong"), [(APART, True), (TOGETHER, False)])
def test_keras_asked_for_its_answers(tmp_path: Path, parts: str, *, wrong: bool) -> None:
    """Columns by name, rows of the training held back by `fit` before, and an evaluation by `predict`."""
    text = KERAS.replace("NUMBER", FACTORIZED).replace("PARTS", parts).replace("keras.Input((1,),", "keras.Input((1,), name=NAME,")
    text = text.replace("name=NAME", 'name="u"', 1).replace("name=NAME", 'name="m"', 1)
    text = text.replace("verbose=0)", "verbose=0, validation_split=0.2)", 1)
    fit, asked = text.index("model.fit"), text.index("model.evaluate")
    listed, by_name = '[train["u"].to_numpy(), train["m"].to_numpy()]', '{name: train[name].to_numpy() for name in ("u", "m")}'
    named = text[fit:asked].replace(listed, by_name)
    text = text[:fit] + named + 'model.predict({name: test[name].to_numpy() for name in ("u", "m")}, batch_size=256, verbose=0)\n'
    seen = test_watch_keras.watch(tmp_path, text, probe_seconds=0.3)
    assert seen.warnings == []
    assert ("E512" in found(seen)) is wrong, seen.evaluation.numbered


@pytest.mark.parametrize(("parts", "wrong"), [(APART, True), (TOGETHER, False)])
def test_keras(tmp_path: Path, parts: str, *, wrong: bool) -> None:
    text = KERAS.replace("NUMBER", FACTORIZED).replace("PARTS", parts)
    seen = test_watch_keras.watch(tmp_path, text, probe_seconds=0.3)
    assert seen.warnings == []
    assert ("E512" in found(seen)) is wrong, seen.evaluation.numbered
