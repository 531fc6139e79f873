"""Inputs in which the target stands already, in both frameworks and for itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.checks.base import walk
from harness.checks.data_facts import LeakFacts
from harness.frameworks.watch import leaks
from tests.checks.made import finding, healthy, judge
from tests.frameworks.watching import found, watch

TABLE = """
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
table = pd.DataFrame(rng.normal(size=(400, 5)), columns=list("abcde"))
table["price"] = 3 * table.a - table.b * table.c + 0.1 * rng.normal(size=400)
y = table["price"].to_numpy("float32")
inputs = table.drop(columns=DROPPED)
x = ((inputs - inputs.mean()) / inputs.std()).to_numpy("float32")
"""
TORCH = TABLE + """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x, y = torch.tensor(x), torch.tensor(y)
model = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(2):
    ROWS
        loss = F.mse_loss(model(xb).squeeze(1), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
LOADER = "for xb, yb in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=32, shuffle=True):"
WHOLE = "for _ in range(8):\n        xb, yb = x, y"
KERAS = """
import keras, numpy as np
rng = np.random.default_rng(0)
series = (np.sin(np.arange(900) / 15) + 0.2 * rng.normal(size=900)).astype("float32")
windows, answers = [], []
for i in range(900 - 24):
    windows.append(series[i:i + 24])
    answers.append(series[i + AHEAD])
x, y = np.array(windows)[..., None], np.array(answers)
model = keras.Sequential([keras.Input((24, 1)), keras.layers.Flatten(), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("rows", [LOADER, WHOLE])
@pytest.mark.parametrize(("dropped", "wrong"), [("['e']", True), ("['e', 'price']", False)])
def test_a_table(tmp_path: Path, rows: str, dropped: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("DROPPED", dropped).replace("ROWS", rows), probe_seconds=0.5)
    assert seen.batches[0].leak is not None, seen.warnings
    assert ("D111" in found(seen)) is wrong, seen.batches[0].leak
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "D111")
        assert told is not None
        assert told.site is not None
        assert "drop(" in told.site.source
        assert "Column 4 of the inputs (of 5" in told.message


@pytest.mark.parametrize(("ahead", "wrong"), [("24 - 1", True), ("24", False)])
def test_a_window(tmp_path: Path, ahead: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("AHEAD", ahead), probe_seconds=0.5)
    assert seen.batches[0].leak is not None, seen.warnings
    assert ("D111" in found(seen)) is wrong, seen.batches[0].leak
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "D111")
        assert told is not None
        assert told.site is not None
        assert "answers.append" in told.site.source


def _columns(target: Any, x: Any) -> list[int] | None:
    facts = leaks.measure({"x": x, "y": target}, target)
    return None if facts is None else facts.columns


def test_what_gives_the_target() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(64, 4)).astype("float32")
    wanted = rng.normal(size=64).astype("float32")
    assert _columns(wanted, np.column_stack([x, 5 * wanted - 2]).astype("float32")) == [4]
    assert _columns(wanted[:, None], np.column_stack([x, wanted]).astype("float32")) == [4]
    assert _columns(wanted, np.column_stack([x, wanted + 1e-2 * rng.normal(size=64)]).astype("float32")) == []
    classes = rng.integers(0, 3, size=64)
    assert _columns(classes, np.column_stack([x, np.array([2.0, -1.0, 0.5])[classes]]).astype("float32")) == [4]
    assert _columns(classes, np.column_stack([x, classes > 0]).astype("float32")) == []
    assert _columns(classes, x) == []


def test_what_may_well_be_the_task() -> None:
    rng = np.random.default_rng(1)
    line = np.linspace(-1, 1, 64, dtype="float32")[:, None]
    assert _columns(2 * line[:, 0] + 1, line) is None  # a line of one input
    x = rng.normal(size=(64, 6)).astype("float32")
    assert _columns(x, x) is None  # what an autoencoder gives back
    season = np.sin(2 * np.pi * (np.arange(64)[:, None] + np.arange(24)) / 24).astype("float32")
    assert _columns(season[:, 0], season) == []  # the step one period ago
    assert _columns(season[:, 0], season[..., None]) == []
    assert _columns(season[:, -1], season[..., None]) == [0]
    first = np.sign(rng.normal(size=(64, 12, 1))).astype("float32")
    assert _columns((first[:, 0, 0] > 0).astype("int64"), first) is None  # a bit to keep in mind


def _leak(rows: int, *columns: int) -> LeakFacts:
    return LeakFacts(part="x", rows=rows, window=False, features=5, columns=list(columns))


def test_every_batch_counts() -> None:
    seen = healthy()
    assert judge("D111", seen).startswith("no inputs of several numbers")
    seen.batches[0].leak = _leak(32, 2)
    assert judge("D111", seen).startswith("no inputs of several numbers")
    seen.batches.append(seen.batches[0].__class__(leak=_leak(32, 2, 3)))
    assert "Column 2" in finding("D111", seen).message
    seen.batches.append(seen.batches[0].__class__(leak=_leak(32)))
    assert judge("D111", seen) == "clean"


def windows(series: np.ndarray[Any, Any], width: int, target: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    starts = np.random.default_rng(1).permutation(len(series) - width - 20)[:64]
    return np.stack([series[at:at + width] for at in starts])[..., None], np.array([series[at + target] for at in starts])


@pytest.mark.parametrize(("kind", "target", "back"), [("rough", 6, 17), ("rough", 30, 0), ("season", 6, 0), ("noise", 6, 0),
                                                  ("day", 6, 17), ("day", 30, 0), ("clear day", 6, 0)])
def test_targets_further_back(kind: str, target: int, back: int) -> None:
    draw = np.random.default_rng(0)
    noise = draw.normal(size=3000)
    walked = np.zeros(3000)
    for step in range(1, 3000):
        walked[step] = 0.95 * walked[step - 1] + noise[step]
    hours = np.arange(3000)
    day = np.sin(2 * np.pi * hours / 48) + 0.3 * np.sin(4 * np.pi * hours / 48 + 1)
    series = {"rough": walked + 0.5 * draw.normal(size=3000), "season": np.tile(walked[:48], 63)[:3000], "noise": noise,
              "day": day + 0.02 * walked, "clear day": day}[kind]
    given, wanted = windows(series, 24, target)
    facts = leaks.measure({"x": given.astype("float32")}, wanted.astype("float32"))
    assert facts is not None
    assert (facts.back, bool(facts.columns)) == (back, back > 0)
