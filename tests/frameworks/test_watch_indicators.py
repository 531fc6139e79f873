"""Columns that `get_dummies` makes of each part of the rows by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
import pandas as pd
rng = np.random.default_rng(0)
table = pd.DataFrame({"km": rng.normal(size=400), "fuel": rng.choice(["petrol", "diesel"], 400)})
table.loc[:9, "fuel"] = "gas"  # in the training rows alone
y = ((table["km"] > 0) == (table["fuel"] == "petrol")).to_numpy("float32")
SPLIT
train, test = train.to_numpy("float32"), test.to_numpy("float32")
"""
TORCH = DATA + """
import torch, torch.nn as nn
torch.manual_seed(0)
wanted = torch.tensor(y)
model = nn.Sequential(nn.Linear(train.shape[1], 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for rows in torch.randperm(300).split(32):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(torch.tensor(train)[rows])[:, 0], wanted[rows]).backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    right = ((model(torch.tensor(test))[:, 0] > 0) == (wanted[300:] > 0)).float().mean().item()
"""
KERAS = DATA + """
import keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((train.shape[1],)), keras.layers.Dense(16, activation="relu"),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy")
model.fit(train, y[:300], epochs=2, verbose=0)
model.evaluate(test, y[300:], verbose=0)
"""
SKLEARN = TORCH.replace("model.eval()", """
from sklearn.preprocessing import StandardScaler
test = torch.tensor(StandardScaler().fit(train).transform(test))
""")
APART = "train, test = pd.get_dummies(table[:300]), pd.get_dummies(table[300:])"


@pytest.mark.parametrize(("name", "script"), [("torch", TORCH), ("keras", KERAS)])
@pytest.mark.parametrize(("split", "code"), [
    (APART, "E512"), (f"{APART}\ntest = test[train.columns]", "E512"),
    (f"{APART}\ntest = test.reindex(columns=train.columns, fill_value=0)", None),
    ("whole = pd.get_dummies(table)\ntrain, test = whole[:300], whole[300:]", None),
    ("whole = pd.get_dummies(table)\ntrain, test = whole[:300], whole[300:].drop(columns='km')", "F103")])
def test_parts_of_a_table(tmp_path: Path, name: str, script: str, split: str, code: str | None) -> None:
    """(The last: a column is missing, and it is none of theirs.)"""
    pytest.importorskip(name)
    seen = watch(tmp_path, script.replace("SPLIT", split), probe_seconds=0.5)
    assert found(seen) == ([code] if code else []), seen.evaluation.indicators
    if code == "E512":
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.evidence[0] == "missing: fuel_gas"
        assert finding.site is not None
        assert "get_dummies" in finding.site.source


def test_an_estimator_that_was_fitted_on_one_part(tmp_path: Path) -> None:
    assert found(watch(tmp_path, SKLEARN.replace("SPLIT", APART), probe_seconds=0.5)) == ["E512"]
