"""Gradients that are clipped before there are any."""

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
