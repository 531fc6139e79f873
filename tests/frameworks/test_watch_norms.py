"""Batch normalisation that goes by its newest batch alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

ROWS = """
import numpy as np
rng = np.random.default_rng(0)
x = (rng.normal(size=(642, 12)) * rng.uniform(0.5, 4.0, size=(642, 1))).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int64")
# ROWS
"""
TORCH = ROWS + """
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
blocks = []
for before, after in ((12, 48), (48, 48), (48, 48)):
    blocks += [nn.Linear(before, after), nn.BatchNorm1d(after, momentum=MOMENTUM), nn.ReLU()]
model = nn.Sequential(*blocks, nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for epoch in range(5):
    for xb, yb in DataLoader(TensorDataset(torch.tensor(x), torch.tensor(y)), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(xb), yb).backward()
        optimizer.step()
"""
KERAS = ROWS + """
import NAME as keras
keras.utils.set_random_seed(0)
blocks = []
for width in (48, 48, 48):
    blocks += [keras.layers.Dense(width), keras.layers.BatchNormalization(momentum=MOMENTUM), keras.layers.ReLU()]
model = keras.Sequential([keras.Input((12,)), *blocks, keras.layers.Dense(2)])
model.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=5, verbose=0)
"""

FAR = "y = (x[:, 0] > 0).astype('int64')\nx += 10"


@pytest.mark.parametrize(("momentum", "fault"), [("0.99", True), ("0.1", False), ("None", False)])
def test_the_number_of_keras_in_torch(tmp_path: Path, momentum: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TORCH.replace("MOMENTUM", momentum))
    assert (found(seen) == ["E515"]) is fault, (found(seen), seen.probes.hasty)
    assert not any("watching failed" in warning for warning in seen.warnings)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "BatchNorm1d" in finding.message
        assert finding.site is not None
        assert finding.site.source.startswith("blocks +=")


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("momentum", "fault"), [("0.01", True), ("0.9", False)])
def test_the_number_of_torch_in_keras(tmp_path: Path, name: str, momentum: str, *, fault: bool) -> None:
    pytest.importorskip("tensorflow")
    pytest.importorskip(name)
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("NAME", name).replace("MOMENTUM", momentum))
    assert (found(seen) == ["E515"]) is fault, (found(seen), seen.probes.hasty)
    assert not any("watching failed" in warning for warning in seen.warnings)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "BatchNormalization" in finding.message
        assert "0.99" in finding.remedy


@pytest.mark.parametrize(("momentum", "epochs", "then", "fault"), [
    ("0.001", 8, "", True), ("0.1", 8, "", False), ("0.001", 400, "", False),
    ("0.001", 8, "torch.optim.swa_utils.update_bn(DataLoader(torch.tensor(x), batch_size=64), model)", False)])
def test_statistics_of_the_beginning(tmp_path: Path, momentum: str, epochs: int, then: str, *, fault: bool) -> None:
    text = TORCH.replace("MOMENTUM", momentum).replace("range(5)", f"range({epochs})").replace("# ROWS", FAR)
    seen = watch(tmp_path, text + then + "\n")
    assert (found(seen) == ["E535"]) is fault, (found(seen), seen.probes.slow)
    assert not any("watching failed" in warning for warning in seen.warnings)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source.startswith("blocks +=")


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("momentum", "fault"), [("0.999", True), ("0.9", False)])
def test_statistics_of_the_beginning_in_keras(tmp_path: Path, name: str, momentum: str, *, fault: bool) -> None:
    pytest.importorskip("tensorflow")
    pytest.importorskip(name)
    text = KERAS.replace("NAME", name).replace("MOMENTUM", momentum).replace("# ROWS", FAR)
    seen = test_watch_keras.watch(tmp_path, text)
    assert (found(seen) == ["E535"]) is fault, (found(seen), seen.probes.slow)
    assert not any("watching failed" in warning for warning in seen.warnings)
