"""Columns that are means over the targets of the rows around their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch.in_order import measure
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
rain = rng.gamma(0.5, 2.0, 900)
level = np.zeros(900)
for t in range(1, 900):
    level[t] = 0.8 * level[t - 1] + 0.3 * rain[t] + rng.normal(0, 0.1)
table = pd.DataFrame({"rain": rain, "level": level})
table["before"] = table["level"].shift(1)
table["mean"] = MEAN
table["target"] = table["level"].shift(-1)
table = table.dropna()
x, y = table.drop(columns="target"), table["target"]
x = ((x - x.mean()) / x.std()).to_numpy("float32")
y = ((y - y.mean()) / y.std()).to_numpy("float32")
"""
TORCH = DATA + """
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(2):
    for xb, yb in DataLoader(TensorDataset(torch.tensor(x), torch.tensor(y)), 32, shuffle=True):
        loss = nn.functional.mse_loss(model(xb).squeeze(1), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = DATA + """
import keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2), "mse")
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""
CENTRED = [('table["level"].rolling(5, center=True).mean()', True), ('table["level"].rolling(3, center=True).mean()', True),
           ('table["level"].rolling(5).mean()', False), ('table["rain"].rolling(5, center=True).mean()', False)]


@pytest.mark.parametrize("text", [TORCH, KERAS], ids=["torch", "keras"])
@pytest.mark.parametrize(("mean", "wrong"), CENTRED)
def test_a_mean_around_its_row(tmp_path: Path, text: str, mean: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    look = watch if text is TORCH else test_watch_keras.watch
    seen = look(tmp_path, text.replace("MEAN", mean), probe_seconds=0.5)
    assert seen.warnings == []
    assert ("D111" in found(seen)) is wrong, seen.probes.ahead
    if wrong:
        result = next(result.finding for result in walk(seen) if result.code == "D111")
        assert result is not None
        assert result.site is not None
        assert result.site.source == f'table["mean"] = {mean}'


def test_what_is_no_look_ahead() -> None:
    rng = np.random.default_rng(0)
    series = np.zeros(500)
    for t in range(1, 500):
        series[t] = 0.8 * series[t - 1] + rng.normal()
    target, noise = series[10:410], rng.normal(size=400)
    mean = np.convolve(series, np.ones(5) / 5, "same")
    known = measure(np.stack([noise, mean[10:410]], 1), target)
    assert known is not None
    assert (known.column, known.taps, known.later) == (1, 5, 2)
    nearer = measure(np.stack([noise, mean[8:408]], 1), target)
    assert nearer is not None
    assert nearer.later == 0
    assert measure(np.stack([noise, mean[7:407]], 1), target) is None  # it ends before the target
    assert measure(np.stack([noise, mean[10:410] + 0.1 * noise], 1), target) is None
    assert measure(np.stack([noise, mean[10:410]], 1), rng.normal(size=400)) is None
    order = rng.permutation(400)
    assert measure(np.stack([noise, mean[10:410]], 1)[order], target[order]) is None
    wave = np.sin(np.arange(420) / 9)
    smooth = np.convolve(wave, np.ones(5) / 5, "same")
    assert measure(np.stack([noise, smooth[10:410]], 1), wave[10:410]) is None  # its past foretells it to the last digit
