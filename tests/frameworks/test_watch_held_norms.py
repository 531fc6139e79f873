"""Batch normalisation that is held in evaluation mode, fresh or measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, LOOP, found, watch

NET = """
class Held(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm1d(10), nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU())
        self.head = nn.Linear(32, 2)
    def forward(self, x):
        return self.head(self.body(x))
    def train(self, mode=True):
        super().train(mode)
        for layer in self.body:
            if isinstance(layer, nn.BatchNorm1d):
                HOLD
        return self
model = Held()
MEASURED
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""
MEASURE = "model.body[0].running_mean += 0.1; model.body[2].running_var *= 2"


@pytest.mark.parametrize(("hold", "measured", "fault"), [
    ("layer.eval()", "", True), ("pass", "", False), ("layer.eval()", MEASURE, False)])
def test_layers_that_normalise_nothing(tmp_path: Path, hold: str, measured: str, *, fault: bool) -> None:
    seen = watch(tmp_path, HEAD + NET.replace("HOLD", hold).replace("MEASURED", measured) + LOOP, probe_seconds=0.5)
    assert ("E503" in found(seen)) is fault, seen.evaluation.held_norms
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "E503")
        assert told is not None
        assert "2 of 2" in told.message
        assert told.site is not None
        assert told.site.source == "layer.eval()"
