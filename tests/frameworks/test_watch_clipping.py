"""Gradients that are clipped before there are any, or after they were needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, found, watch

LOOP = HEAD + """
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad(set_to_none=NONE)
        loss = F.cross_entropy(model(xb), yb)
        LINES
        optimizer.step()
"""
CLIP, BACK = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "loss.backward()"


@pytest.mark.parametrize("none", ["True", "False"])
@pytest.mark.parametrize(("lines", "fault"), [((CLIP, BACK), True), ((BACK, CLIP), False)])
def test_clipping_before_the_backward_pass(tmp_path: Path, none: str, lines: tuple[str, str], *, fault: bool) -> None:
    seen = watch(tmp_path, LOOP.replace("NONE", none).replace("LINES", "\n        ".join(lines)))
    assert (found(seen) == ["G306"]) is fault, found(seen)
    assert seen.optimizer is not None
    assert seen.optimizer.clipping == (None if fault else 1.0)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == CLIP


def test_clipping_where_nothing_goes_backward_at_all(tmp_path: Path) -> None:
    seen = watch(tmp_path, LOOP.replace("NONE", "True").replace("LINES", CLIP))
    assert seen.optimizer is not None
    assert not seen.optimizer.clips_nothing
    assert found(seen) == ["G304"]


@pytest.mark.parametrize("zero", ["optimizer.zero_grad()", "pass"])
def test_clipping_after_the_step(tmp_path: Path, zero: str) -> None:
    """What is not zeroed goes into the next step as it was clipped, and is the first thing that is wrong there."""
    text = LOOP.replace("NONE", "True").replace("LINES", BACK).replace("optimizer.step()", f"optimizer.step()\n        {CLIP}")
    seen = watch(tmp_path, text.replace("optimizer.zero_grad(set_to_none=True)", zero))
    assert seen.optimizer is not None
    assert seen.optimizer.clips_late
    assert found(seen) == (["S403"] if zero == "pass" else ["G306"])
    if zero != "pass":
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == CLIP


SHORT = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
rng = np.random.default_rng(0)
x = torch.tensor(rng.normal(size=(800, 16)).astype("float32"))
y = ((x[:, 0] > 0) * 2 + (x[:, 1] > 0)).long()
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.OPTIMIZER
scaler = torch.amp.GradScaler("cpu")
for epoch in range(3):
    for rows in torch.randperm(800).split(32):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[rows]), y[rows])
        LINES
"""
SGD, ADAM = "SGD(model.parameters(), lr=0.3)", "Adam(model.parameters(), lr=3e-3)"
STEP = "optimizer.step()"
SCALED, SCALED_STEP = "scaler.scale(loss).backward()", "scaler.step(optimizer); scaler.update()"
UNSCALE = "scaler.unscale_(optimizer)"


def tight(limit: float) -> str:
    return f"nn.utils.clip_grad_norm_(model.parameters(), {limit})"


@pytest.mark.parametrize(("optimizer", "lines", "name"), [
    (SGD, (BACK, tight(1e-3), STEP), ""),
    (SGD, (SCALED, tight(1.0), SCALED_STEP), "scaled"),
])
def test_steps_that_clipping_makes_too_short(tmp_path: Path, optimizer: str, lines: tuple[str, ...], name: str) -> None:
    seen = watch(tmp_path, SHORT.replace("OPTIMIZER", optimizer).replace("LINES", "\n        ".join(lines)), steps=60, probe_seconds=6.0)
    assert found(seen) == ["S406"]
    restraint = seen.probes.restraints[0]
    assert (restraint.kind, restraint.name) == ("clipping", name)
    assert restraint.site is not None
    assert restraint.site.source == lines[1]


@pytest.mark.parametrize(("optimizer", "lines"), [
    (SGD, (BACK, tight(0.25), STEP)),
    (ADAM, (BACK, tight(1e-3), STEP)),  # by its own norm Adam divides what it is given
    (SGD, (SCALED, UNSCALE, tight(1.0), SCALED_STEP)),
    (SGD, (SCALED, SCALED_STEP)),
])
def test_clipping_that_lets_learn(tmp_path: Path, optimizer: str, lines: tuple[str, ...]) -> None:
    seen = watch(tmp_path, SHORT.replace("OPTIMIZER", optimizer).replace("LINES", "\n        ".join(lines)), steps=60, probe_seconds=6.0)
    assert found(seen) == []
    assert not seen.probes.restraints
