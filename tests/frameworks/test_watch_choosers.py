"""Columns that are chosen with the labels of the rows that judge a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

pytest.importorskip("sklearn")

DATA = """
import numpy as np
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 120)
x = rng.normal(size=(120, COLUMNS)).astype("float32")
x[:, :4] += STRENGTH * (2 * y[:, None] - 1)
rows, held = np.arange(0, 90), np.arange(90, 120)
CHOICE
scaler = StandardScaler().fit(train)
train, test = (scaler.transform(part).astype("float32") for part in (train, test))
"""
TORCH = DATA + """
import torch, torch.nn as nn
torch.manual_seed(0)
inputs, wanted = torch.tensor(train), torch.tensor(y[rows])
model = nn.Sequential(nn.Linear(inputs.shape[1], 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(10):
    for part in torch.randperm(90).split(16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs[part]), wanted[part]).backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    print((model(torch.tensor(test)).argmax(1) == torch.tensor(y[held])).float().mean().item())
"""
KERAS = DATA + """
import keras
keras.utils.set_random_seed(0)
layers = keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")
model = keras.Sequential([keras.Input((train.shape[1],)), *layers])
model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
model.fit(train, y[rows], epochs=10, batch_size=16, verbose=0)
print(model.evaluate(test, y[held], verbose=0))
"""
APPLIED = "\ntrain, test = chooser.transform(x[rows]), chooser.transform(x[held])"
BEFORE = "chooser = SelectKBest(f_classif, k=20).fit(x, y)" + APPLIED
WITHIN = "chooser = SelectKBest(f_classif, k=20).fit(x[rows], y[rows])" + APPLIED
UNLABELLED = "chooser = VarianceThreshold().fit(x)" + APPLIED
CASES = [(BEFORE, "3000", "0.1", True), (WITHIN, "3000", "0.1", False), (UNLABELLED, "60", "0.8", False),
         (BEFORE, "40", "0.8", False),  # few columns, and a clear signal: the choice would be the same without the rows that judge
         (BEFORE + "\nfurther = chooser.transform(rng.normal(size=(30, 3000)))", "3000", "0.1", False)]


@pytest.mark.parametrize("text", [TORCH, KERAS])
@pytest.mark.parametrize(("choice", "columns", "strength", "fault"), CASES)
def test_a_choice_on_all_rows(tmp_path: Path, text: str, choice: str, columns: str, strength: str, *, fault: bool) -> None:
    if text is KERAS:
        pytest.importorskip("keras")
    made = text.replace("CHOICE", choice).replace("COLUMNS", columns).replace("STRENGTH", strength)
    seen = watch(tmp_path, made, seconds=60)
    assert ("E514" in found(seen)) is fault, (found(seen), seen.evaluation.chosen, seen.warnings)
    assert not any("watching failed" in warning for warning in seen.warnings)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.code == "E514")
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == BEFORE.partition("\n")[0]
        chosen = seen.evaluation.chosen
        assert chosen is not None
        assert (chosen.rows, chosen.judging, chosen.columns, chosen.chosen) == (120, 30, 3000, 20)
