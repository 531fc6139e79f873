"""Generators that a dataset keeps, in a loader with workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

TEXT = """
import random
import numpy as np, torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, get_worker_info as info
torch.manual_seed(0)
clean = np.sin(np.linspace(0, 6, 16) * np.random.default_rng(0).uniform(1, 3, (64, 1))).astype("float32")
class Noisy(Dataset):
    def __init__(self):
        self.rng = MADE
    def __len__(self):
        return len(clean)
    def __getitem__(self, i):
        noise = DRAWN
        return clean[i] + np.asarray(noise, dtype="float32"), clean[i]
def init(_):
    BODY
rows, model = Noisy(), nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))
loader = DataLoader(rows, batch_size=16, shuffle=True, num_workers=WORKERSOPTION)
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(3):
    BETWEEN
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
NUMPY, PYTHON, OLD = "np.random.default_rng(0)", "random.Random(0)", "np.random.RandomState(0)"
NORMAL, GAUSS = "0.1 * self.rng.normal(size=16)", "[0.1 * self.rng.gauss(0, 1) for _ in range(16)]"
ANEW = "info().dataset.rng = np.random.default_rng(torch.initial_seed())"


@pytest.mark.parametrize(("made", "drawn", "body", "option", "between", "fault"), [
    (NUMPY, NORMAL, "pass", "2", "pass", True), (PYTHON, GAUSS, "pass", "1", "pass", True), (OLD, NORMAL, "pass", "2", "pass", True),
    (NUMPY, NORMAL, "np.random.seed(torch.initial_seed() % 2**32)", "2, worker_init_fn=init", "pass", True),
    (NUMPY, NORMAL, "pass", "0", "pass", False), (NUMPY, NORMAL, "pass", "2, persistent_workers=True", "pass", False),
    (NUMPY, "0.1 * torch.randn(16).numpy()", "pass", "2", "pass", False), (NUMPY, NORMAL, ANEW, "2, worker_init_fn=init", "pass", False),
    (NUMPY, NORMAL, "pass", "2", "rows.rng = np.random.default_rng(epoch)", False)])
def test_what_workers_copy(tmp_path: Path, made: str, drawn: str, body: str, option: str, between: str, *, fault: bool) -> None:
    text = TEXT.replace("MADE", made).replace("DRAWN", drawn).replace("BODY", body).replace("WORKERSOPTION", option)
    seen = watch(tmp_path, text.replace("BETWEEN", between), probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("D109" in found(seen)) is fault
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "D109")
        assert told is not None
        assert told.site is not None
        assert told.site.source == f"self.rng = {made}"


def test_the_generator_stands_where_it_stood(tmp_path: Path) -> None:
    """What the main process draws afterwards is what it would have drawn."""
    text = TEXT.replace("MADE", NUMPY).replace("DRAWN", NORMAL).replace("BODY", "pass").replace("WORKERSOPTION", "2").replace(
        "BETWEEN", "pass") + "assert rows.rng.random() == np.random.default_rng(0).random()\n"
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
