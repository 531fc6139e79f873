"""Windows over a series: split at random they overlap with what is trained on, split by time they do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch.windows import Windows
from tests.frameworks.watching import found, watch

TEXT = """
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
rng = np.random.default_rng(0)
series = rng.normal(size=1200).cumsum().astype("float32") / 10
x = np.stack([series[start:start + 16] for start in range(1100)])
y = series[16:1116] - series[15:1115]
order = ORDER
x, y = torch.tensor(x[order]), torch.tensor(y[order])
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(4):
    for rows in torch.randperm(880).split(32):
        loss = F.mse_loss(model(x[rows]).squeeze(1), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(F.mse_loss(model(x[880:]).squeeze(1), y[880:]).item())
    model.train()
"""


@pytest.mark.parametrize(("order", "codes"), [("rng.permutation(1100)", ["E510"]), ("np.arange(1100)", [])])
def test_a_split(tmp_path: Path, order: str, codes: list[str]) -> None:
    seen = watch(tmp_path, TEXT.replace("ORDER", order), steps=60)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [code for code in found(seen) if code == "E510"] == codes


def asked(series: np.ndarray, trained: list[int], held: list[int]) -> tuple[int, int]:
    windows = Windows()
    cut = [np.stack([series[start:start + 12] for start in part]).astype("float32") for part in (trained, held)]
    marks = [hash(row.tobytes()) for row in cut[0]]
    windows.trained(np.stack(list(dict(zip(marks, cut[0], strict=True)).values())))
    windows.held(cut[1][[hash(row.tobytes()) not in marks for row in cut[1]]])  # rows that are trained on are another matter
    return windows.facts()


def test_what_counts() -> None:
    series = np.random.default_rng(0).normal(size=400)
    starts = list(range(380))
    assert asked(series, starts[::2], starts[1::2])[1] > 150
    assert asked(series, starts[:200], starts[212:]) == (168, 0)
    assert asked(series, starts[::24], starts[12::24]) == (16, 0)  # side by side, without an overlap
    assert asked(np.sin(np.arange(400) * np.pi / 6).round(3), starts[:200], starts[212:]) == (0, 0)  # a series that repeats itself
