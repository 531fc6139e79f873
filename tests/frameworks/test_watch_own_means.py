"""Columns that are means of labels by groups, with each row's own label and without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

TEXT = """
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
shops = rng.integers(0, 300, 1200)
table = pd.DataFrame({"shop": shops, "size": rng.normal(size=1200)})
table["back"] = (rng.random(1200) < 1 / (1 + np.exp(-table["size"] - rng.normal(0, 0.5, 300)[shops]))).astype(int)
train, test = table[:900].copy(), table[900:].copy()
def rates(rows):
    found = rows.groupby("shop")["back"].agg(["sum", "count"])
    return (found["sum"] + SMOOTH * 0.5) / (found["count"] + SMOOTH)
def in_folds(rows):
    made = np.full(len(rows), 0.5)
    for fold in range(5):
        other = np.arange(len(rows)) % 5 != fold
        made[~other] = rows["shop"][~other].map(rates(rows[other])).fillna(0.5)
    return made
train_rate = ENCODED
test_rate = test["shop"].map(rates(train)).fillna(0.5)
X = np.column_stack([train_rate, train["size"]]).astype("float32")
held = np.column_stack([test_rate, test["size"]]).astype("float32")
mean, spread = X.mean(0), X.std(0)
X, held = (X - mean) / spread, (held - mean) / spread
y, wanted = train["back"].to_numpy("float32"), test["back"].to_numpy()
"""
TORCH = TEXT + """
import torch, torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(y)), batch_size=50, shuffle=True)
for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(xb)[:, 0], yb).backward()
        optimizer.step()
with torch.no_grad():
    print(((model(torch.tensor(held))[:, 0] > 0).numpy() == wanted).mean())
"""
KERAS = TEXT + """
import keras
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(X, y, batch_size=50, epochs=3, verbose=0)
model.evaluate(held, wanted, verbose=0)
"""
OWN, FOLDS = 'train["shop"].map(rates(train))', "in_folds(train)"


@pytest.mark.parametrize("training", [TORCH, KERAS], ids=["torch", "keras"])
@pytest.mark.parametrize(("encoded", "smooth", "groups", "fault"), [
    (OWN, "0", 300, True), (OWN, "2.5", 300, True), (FOLDS, "2.5", 300, False), (OWN, "0", 20, False)])
def test_rates_of_groups(tmp_path: Path, training: str, encoded: str, smooth: str, groups: int, *, fault: bool) -> None:
    if training is KERAS:
        pytest.importorskip("keras")
    text = training.replace("ENCODED", encoded).replace("SMOOTH", smooth).replace("0, 300", f"0, {groups}")
    seen = watch(tmp_path, text, steps=40, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("D111" in found(seen)) == fault, seen.own_mean
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "D111")
        assert told is not None
        assert told.site is not None
        assert told.site.source == f"train_rate = {encoded}"
        assert told.message.startswith("Column 0 of the inputs (of 2, counted from 0) is the mean of the labels")


PARTED = TEXT.split("train, test =", maxsplit=1)[0] + """
order = rng.permutation(1200)
fit, held = order[:900], order[900:]
def rates(rows):
    found = rows.groupby("shop")["back"].agg(["sum", "count"])
    return (found["sum"] + 1) / (found["count"] + 2)
column = np.zeros(1200)
for fold in range(5):
    inner = np.arange(900) % 5 == fold
    column[fit[inner]] = table["shop"].iloc[fit[inner]].map(rates(table.iloc[fit[~inner]])).fillna(0.5)
column[held] = table["shop"].iloc[held].map(rates(OF)).fillna(0.5)
X = np.column_stack([column, table["size"]])
X = ((X - X[fit].mean(0)) / X[fit].std(0)).astype("float32")
X, held, y, wanted = X[fit], X[held], table["back"].to_numpy("float32")[fit], table["back"].to_numpy()[held]
"""


@pytest.mark.parametrize(("of", "fault"), [("table", True), ("table.iloc[fit]", False)])
def test_rates_of_held_rows(tmp_path: Path, of: str, *, fault: bool) -> None:
    parted = PARTED.replace("OF", of).replace("X, held, y", "x_fit, x_held, y")
    training = TORCH[len(TEXT):].replace("torch.tensor(X)", "torch.tensor(x_fit)").replace("torch.tensor(held)", "torch.tensor(x_held)")
    seen = watch(tmp_path, parted + training, steps=40, probe_seconds=1)
    assert ("D111" in found(seen)) == fault, seen.own_mean
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "D111")
        assert told is not None
        assert "for 300 of the rows, its own label among them" in told.message
