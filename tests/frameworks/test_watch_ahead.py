"""Moving averages that reach as far as the target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.checks.base import FAILED, Finding, walk
from harness.checks.observation import Observation
from harness.frameworks.watch import ahead
from tests.frameworks.watching import watch

Array = np.ndarray[Any, Any]


def series(steps: int = 900, noise: float = 0.3) -> Array:
    rng, found = np.random.default_rng(0), np.zeros(steps)
    for at in range(2, steps):
        found[at] = 1.6 * found[at - 1] - 0.8 * found[at - 2] + noise * rng.normal()
    return found


def centred(values: Array, width: int = 5) -> Array:
    made: Array = np.convolve(values, np.ones(width) / width, mode="same")
    return made


def trailing(values: Array, width: int = 5) -> Array:
    made: Array = np.convolve(values, np.ones(width) / width)[: len(values)]
    return made


def windows(feature: Array, values: Array, steps: int = 12) -> tuple[list[Any], Array]:
    both = np.stack([values, feature], 1)
    return [both[at:at + steps] for at in range(600)], values[steps:steps + 600]


def table(feature: Array, values: Array, lags: int = 12) -> tuple[list[Any], Array]:
    at = np.arange(lags + 5, lags + 605)
    rows = [np.r_[values[now - lags:now], feature[now - 1], feature[now - 2], np.sin(now)] for now in at]
    return rows, values[at]


@pytest.mark.parametrize("shape", [windows, table])
def test_a_mean_that_reaches_the_target_is_told_from_one_that_does_not(shape: Any) -> None:
    values = series()
    found = ahead.measure(*shape(centred(values), values))
    assert found is not None
    assert found.taps == 5
    assert found.window == (shape is windows)
    assert ahead.measure(*shape(trailing(values), values)) is None


@pytest.mark.parametrize(("made", "later", "wrong"), [(centred, 1, True), (centred, 2, False), (trailing, 1, False)])
def test_a_target_that_is_not_the_next_step(made: Any, later: int, *, wrong: bool) -> None:
    values = series()
    rows, wanted = windows(made(values), values)
    found = ahead.measure(rows[: len(wanted) - later], wanted[later:])
    assert (found is not None) is wrong
    assert found is None or (found.taps, found.window, found.column) == (5, True, 1)


@pytest.mark.parametrize(("made", "wrong"), [(centred, True), (trailing, False)])
def test_a_target_that_is_the_change(made: Any, *, wrong: bool) -> None:
    values = np.cumsum(np.random.default_rng(4).normal(size=900)) * 0.1
    rows, wanted = windows(made(values), values)
    change = wanted - np.array([row[-1, 0] for row in rows])
    assert (ahead.measure(rows, change) is not None) is wrong


def test_what_is_a_sum_and_no_series() -> None:
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(600, 8))
    assert ahead.measure(list(plain), plain @ rng.normal(size=8)) is None  # a task without noise
    costs = rng.normal(size=(600, 4))
    assert ahead.measure(list(np.column_stack([costs, costs.sum(1)])), costs[:, 0]) is None
    wave = np.sin(np.arange(900) / 7) + np.sin(np.arange(900) / 3)
    assert ahead.measure(*windows(np.cos(np.arange(900) / 5), wave)) is None  # waves tell themselves


SCRIPT = """
import numpy as np, torch
from torch import nn
torch.manual_seed(0)
rng = np.random.default_rng(0)
level = np.zeros(900)
for at in range(2, 900):
    level[at] = 1.6 * level[at - 1] - 0.8 * level[at - 2] + 0.3 * rng.normal()
smooth = np.convolve(level, np.ones(5) / 5, MODE)[:900]
X = torch.tensor(np.stack([np.stack([level, smooth], 1)[at:at + 12] for at in range(800)]), dtype=torch.float32)
y = torch.tensor(level[12:812], dtype=torch.float32)
net = nn.Sequential(nn.Flatten(), nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(800).split(32):
        loss = nn.functional.mse_loss(net(X[rows])[:, 0], y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def d111(seen: Observation) -> Finding | None:
    results = walk(seen)
    assert not [result for result in results if (result.reason or "").startswith(FAILED)]
    return next((result.finding for result in results if result.code == "D111"), None)


def test_it_is_found_where_the_mean_is_taken(tmp_path: Path) -> None:
    finding = d111(watch(tmp_path, SCRIPT.replace("MODE", '"same"'), steps=60))
    assert finding is not None
    assert finding.site is not None
    assert "np.convolve" in finding.site.source
    assert d111(watch(tmp_path, SCRIPT.replace("MODE", '"full"'), steps=60)) is None
