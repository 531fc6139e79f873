"""Rows in an order that the model is taught in, without classes that could be counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch import orders
from tests.frameworks import watching
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import found

DATA = """
import numpy as np
rng = np.random.default_rng(0)
modes = rng.normal(size=(6, 12)) * 2
kind = np.repeat(np.arange(6), 320)
x = (modes[kind] + rng.normal(size=(1920, 3)) @ rng.normal(size=(3, 12))).astype("float32")
x = (x - x.mean(0)) / x.std(0)
x = ROWS
"""
TORCH = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4), torch.nn.Linear(4, 12))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for (rows,) in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.tensor(x)), batch_size=32, shuffle=SHUFFLE):
    loss = ((model(rows) - rows) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
KERAS = """
import keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4), keras.layers.Dense(12)])
model.compile(keras.optimizers.Adam(1e-2), "mse")
model.fit(x, x, batch_size=32, shuffle=SHUFFLE, verbose=0)
"""


@pytest.mark.parametrize("training", [TORCH, KERAS], ids=["torch", "keras"])
@pytest.mark.parametrize(("rows", "shuffle", "codes"), [
    ("x", "False", ["D107"]), ("x", "True", []), ("x[rng.permutation(1920)]", "False", [])])
def test_rows_in_an_order(tmp_path: Path, training: str, rows: str, shuffle: str, codes: list[str]) -> None:
    pytest.importorskip("keras" if training is KERAS else "torch")
    text = (DATA + training).replace("ROWS", rows).replace("SHUFFLE", shuffle)
    seen = (watch_keras if training is KERAS else watching.watch)(tmp_path, text, steps=60, probe_seconds=8)
    assert found(seen) == codes, seen.probes.ordered
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "in a random order" in finding.message
    else:
        assert seen.probes.ordered is None


RNG = np.random.default_rng(0)
SORTED = np.repeat(np.arange(20), 16)


@pytest.mark.parametrize(("rows", "share"), [
    (RNG.normal(size=(320, 5)), 0.0), (SORTED[:, None] + RNG.normal(size=(320, 1)), 0.97), (SORTED % 4, 1.0),
    (RNG.permutation(SORTED), 0.0), (np.stack([SORTED, RNG.integers(20, 60, 320)], 1), 0.5), (np.full((320, 3), np.nan), 0.0)],
    ids=["noise", "a drift", "kinds", "kinds in random order", "ids beside others", "no numbers"])
def test_what_lies_between_batches(rows: np.ndarray, share: float) -> None:
    assert orders.between([[batch] for batch in np.split(rows, 20)]) == pytest.approx(share, abs=0.06)


def test_batches_that_cannot_be_compared() -> None:
    assert orders.between([[np.zeros((8, 3))] for _ in range(4)]) == 0.0
    assert orders.between([[np.zeros((8, 3 + number % 2))] for number in range(20)]) == 0.0
    assert orders.between([[np.array(["a"] * 8)] for _ in range(20)]) == 0.0
    assert orders.between([]) == 0.0


@pytest.mark.parametrize(("carried", "wanted"), [(True, False), (False, True)])
def test_a_state_that_goes_on_wants_its_order(tmp_path: Path, *, wanted: bool, carried: bool) -> None:
    """The very same rows in the very same order, for recurrent layers that begin anew with each batch and for those that do not."""
    pytest.importorskip("keras")
    layers = f"keras.Input(batch_shape=(32, 3, 4)), keras.layers.LSTM(16, stateful={carried}), keras.layers.Dense(12)"
    text = (DATA + KERAS).replace("ROWS", "x").replace("SHUFFLE", "False").replace("model.fit(x,", "model.fit(x.reshape(-1, 3, 4),")
    text = text.replace(KERAS[KERAS.index("[keras.Input"):KERAS.index("])") + 1], f"[{layers}]")
    seen = watch_keras(tmp_path, text, steps=60, probe_seconds=20)
    assert seen.model is not None
    assert seen.model.carries is carried
    assert ("D107" in found(seen)) is wanted
