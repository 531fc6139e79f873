"""Averages of a model, with and without its running statistics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, found, watch

TEXT = HEAD + """
import copy
model = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
X = X * 3 + 5
train = DataLoader(TensorDataset(X[:320], y[:320]), batch_size=16, shuffle=True)
average = copy.deepcopy(model).eval()
def follow():
    for kept, own in zip(average.parameters(), model.parameters()):
        kept.data.lerp_(own.data, 0.1)
for epoch in range(4):
    model.train()
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        follow()
        FOLLOW
with torch.no_grad():
    LAST
    print((ASKED(X[320:]).argmax(1) == y[320:]).float().mean())
"""
BUFFERS = "[kept.copy_(own) for kept, own in zip(average.buffers(), model.buffers())]"


@pytest.mark.parametrize(("follow", "last", "asked", "fault"), [
    ("pass", "pass", "average", True), (BUFFERS, "pass", "average", False), ("pass", "average.train(); average(X[:320]); average.eval()",
                                                                            "average", False),
    ("pass", "model.eval()", "model", False), ("pass", "average.load_state_dict(model.state_dict())", "average", False)])
def test_an_average(tmp_path: Path, follow: str, last: str, asked: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TEXT.replace("FOLLOW", follow).replace("LAST", last).replace("ASKED", asked), steps=200, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E522" in found(seen)) == fault, seen.evaluation.unmeasured
    if fault:
        facts = seen.evaluation.unmeasured
        assert facts is not None
        assert (facts.layers, facts.rows) == (1, 80)
        assert facts.site is not None
        assert facts.site.source.startswith("for kept, own in zip(average.parameters()")
