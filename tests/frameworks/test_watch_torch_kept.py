"""PyTorch under watch: what evaluations give, kept with its graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, found, watch

pytest.importorskip("torch")

EVALUATED = HEAD + """
def score(out, yb):
    return F.cross_entropy(out, yb)
held, both = [], []
for epoch in range(4):
    for xb, yb in train:
        model.train()
        optimizer.zero_grad()
        out = model(xb)
        loss = score(out, yb)
        loss.backward()
        optimizer.step()
        both.append(BESIDE)
        model.eval()
        for xt, yt in test:
            loss = score(model(xt), yt)
            break
        held.append(KEPT)
"""


@pytest.mark.parametrize(("kept", "beside", "fault"), [
    ("loss", "0", True), ("loss / 2 + 1", "0", True), ("loss.item()", "0", False), ("loss.detach()", "0", False),
    # What went backward has let go of its graph, and what shares one with it has nothing to hold.
    ("0", "F.mse_loss(out, torch.zeros_like(out))", False)])
def test_losses_of_evaluations(tmp_path: Path, kept: str, beside: str, *, fault: bool) -> None:
    seen = watch(tmp_path, EVALUATED.replace("KEPT", kept).replace("BESIDE", beside), seconds=60)
    assert seen.exception is None
    assert (found(seen) == ["R602"]) is fault, (found(seen), seen.memory)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == "loss = score(model(xt), yt)"
