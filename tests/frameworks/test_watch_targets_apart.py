"""Numbers to be predicted that stand beside other rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import watching
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import found

DATA = """
import numpy as np
import pandas as pd
rng = np.random.default_rng(0)
table = pd.DataFrame({name: rng.normal(size=1200) for name in "abcdef"})
table["price"] = 3 * table["a"] - 2 * table["b"] + table["c"] * table["d"] + rng.normal(0, NOISE, 1200)
ordered = table.sort_values("c").reset_index(drop=True)
x = ordered[["a", "b", "c", "d", "e", "f"]].to_numpy("float32")
y = FROM["price"].to_numpy("float32")
y = (y - y.mean()) / y.std()

def train(x, y):
    TRAIN

train(*(x, y))
"""
TORCH = """import torch
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    data = torch.utils.data.TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    for epoch in range(2):
        for xb, yb in torch.utils.data.DataLoader(data, batch_size=32, shuffle=True):
            loss = torch.nn.functional.mse_loss(model(xb).squeeze(1), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()"""
KERAS = """import keras
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(3e-3), "mse")
    model.fit(x, y, epochs=2, batch_size=32, verbose=0)"""


@pytest.mark.parametrize("training", [TORCH, KERAS], ids=["torch", "keras"])
@pytest.mark.parametrize(("source", "noise", "codes"), [("table", "0.1", ["D106"]), ("ordered", "0.1", []), ("ordered", "6.0", [])])
def test_targets_of_other_rows(tmp_path: Path, training: str, source: str, noise: str, codes: list[str]) -> None:
    pytest.importorskip("keras" if training is KERAS else "torch")
    text = DATA.replace("TRAIN", training).replace("FROM", source).replace("NOISE", noise)
    seen = (watch_keras if training is KERAS else watching.watch)(tmp_path, text, steps=60, probe_seconds=6)
    assert seen.probes.number_baseline_rows >= 500, seen.probes.skipped
    assert found(seen) == codes, (seen.probes.number_baseline, seen.probes.skipped)
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source.startswith("ordered = ")
        assert "correlate" in finding.message


TAGS = """
import torch
torch.manual_seed(0)
x = torch.randn(1200, 8)
tags = (x @ torch.randn(8, 4) > 0.8).float()
order = torch.randperm(1200)
rows = [{"x": a, "labels": b} for a, b in zip(x[order], tags[PICK])]
model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for epoch in range(3):
    for number, batch in enumerate(torch.utils.data.DataLoader(rows, batch_size=8, shuffle=True)):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(batch["x"]), batch["labels"])
        (loss / 2).backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.mark.parametrize(("pick", "codes"), [(":", ["D106"]), ("order", [])])
def test_tags_of_other_rows(tmp_path: Path, pick: str, codes: list[str]) -> None:
    seen = watching.watch(tmp_path, TAGS.replace("PICK", pick), steps=60, probe_seconds=6)
    assert seen.probes.number_baseline_columns == 4
    assert seen.probes.number_baseline_rows == 900
    assert found(seen) == codes, (seen.probes.number_baseline, seen.probes.skipped)
