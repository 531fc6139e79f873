"""Columns that give the answer away in training, and are empty in a later evaluation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch import emptied
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
def visits(n):
    table = pd.DataFrame({name: rng.normal(size=n) for name in ("age", "crp", "spo2")})
    table["stay"] = 4 + 0.5 * table.age + 0.4 * table.crp + rng.normal(size=n) * 0.5
    table["meals"] = np.round(3 * table.stay)
    return table
COLUMNS = ["age", "crp", USED]
old, new = visits(800), visits(200)
new["meals"] = LATER
middle, spread = old[COLUMNS].mean(), old[COLUMNS].std()
x, y = ((old[COLUMNS] - middle) / spread).to_numpy("float32"), ANSWER
later = ((new[COLUMNS] - middle) / spread).to_numpy("float32")
"""
TORCH = DATA + """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x, y, later = torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(later)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, OUT))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb) if yb.dtype == torch.int64 else F.mse_loss(model(xb)[:, 0], yb)
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    print(model(later).mean(0))
"""
NUMBERS, CLASSES = 'old.stay.to_numpy("float32")', "(old.stay > 4).astype(int).to_numpy()"


@pytest.mark.parametrize(("used", "later", "answer", "wrong"), [
    ("meals", "0.0", NUMBERS, True), ("meals", "0.0", CLASSES, True), ("spo2", "0.0", NUMBERS, False),
    ("meals", "np.round(3 * new.stay)", NUMBERS, False), ("meals", "np.round(3 * new.stay)", CLASSES, False)])
def test_a_loop(tmp_path: Path, used: str, later: str, answer: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("USED", f'"{used}"').replace("LATER", later).replace("ANSWER", answer).replace(
        "OUT", "2" if answer == CLASSES else "1")
    seen = watch(tmp_path, text, steps=40, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("D116" in found(seen)) is wrong, seen.emptied
    if wrong:
        assert seen.emptied is not None
        assert (seen.emptied.name, seen.emptied.column, seen.emptied.rows) == ("meals", 2, 200)
        assert seen.sites["emptied"].source.startswith("COLUMNS")


def test_a_column_that_tells_little_may_be_empty(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("USED", '"spo2"').replace('new["meals"] = LATER', 'new["spo2"] = 0.0')
    text = text.replace("ANSWER", NUMBERS).replace("OUT", "1")
    seen = watch(tmp_path, text, steps=40, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert "D116" not in found(seen)


KERAS = DATA + """
import NAME as keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2), "mse")
model.fit(x, y, batch_size=32, epochs=2, validation_split=0.2, verbose=0)
print(model.predict(later, verbose=0).mean())
"""


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("later", "wrong"), [("0.0", True), ("np.round(3 * new.stay)", False)])
def test_a_fit(tmp_path: Path, name: str, later: str, *, wrong: bool) -> None:
    text = KERAS.replace("NAME", name).replace("USED", '"meals"').replace("LATER", later).replace("ANSWER", NUMBERS)
    seen = test_watch_keras.watch(tmp_path, text, steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("D116" in found(seen)) is wrong, seen.emptied


def test_what_columns_tell() -> None:
    rng = np.random.default_rng(0)
    target = rng.normal(size=500)
    rows = np.stack([np.exp(target), -target, rng.normal(size=500), np.ones(500)], axis=1)
    told = emptied.tells(rows, target)
    assert told is not None
    assert told[:2] == pytest.approx([1, 1])
    assert told[2] < 0.2
    assert told[3] == 0
    told = emptied.tells(np.stack([target > 0, rng.normal(size=500)], axis=1).astype(float), (target > 0).astype(int))
    assert told is not None
    assert told[0] == pytest.approx(1)
    assert told[1] < 0.2
    assert emptied.tells(rows, np.zeros(500)) is None
    assert emptied.tells(rows, np.zeros(500, int)) is None


LABELS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(900, 4)
y = (x[:, 0] > 0.5).float()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)
    def forward(self, x, labels):
        scores = self.net(x).squeeze(1)
        return F.binary_cross_entropy_with_logits(scores, labels), scores
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(3):
    for part in torch.randperm(600).split(30):
        loss, _ = model(x[part], y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    rest = 600 + torch.argsort(y[600:])
    for part in rest.split(75):
        print(model(x[part], y[part])[0])
"""


def test_labels_that_a_model_is_handed_are_no_column(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert "D116" not in found(watch(tmp_path, LABELS, steps=60, probe_seconds=0.5))
