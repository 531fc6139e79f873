"""Models that answer beside a training, in training mode or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, found, watch

TEXT = HEAD + """
import copy
teacher = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(SHARE), nn.Linear(64, 2))
MODE
for epoch in range(3):
    model.train()
    for xb, yb in train:
        with torch.no_grad():
            soft = F.softmax(teacher(xb), dim=1)
        loss = F.kl_div(F.log_softmax(model(xb), dim=1), soft, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        AFTER
"""
FOLLOWS = """with torch.no_grad():
            for kept, own in zip(teacher.parameters(), model.parameters()):
                kept.lerp_(own, 0.1)"""


@pytest.mark.parametrize(("share", "mode", "after", "codes"), [
    ("0.5", "", "pass", ["F113"]),
    ("0.5", "teacher.eval()", "pass", []),
    ("0.0", "", "pass", []),
    ("0.01", "", "pass", []),  # too little to matter
    ("0.5", "teacher = copy.deepcopy(model)", FOLLOWS, [])])  # an average that follows, noise and all
def test_a_teacher(tmp_path: Path, share: str, mode: str, after: str, codes: list[str]) -> None:
    text = TEXT.replace("SHARE", share).replace("MODE", mode).replace("AFTER", after)
    seen = watch(tmp_path, text)
    assert [code for code in found(seen) if code == "F113"] == codes
    if codes:
        assert seen.teacher is not None
        assert seen.teacher.layers == ["Dropout"]
        assert seen.teacher.site is not None
        assert seen.teacher.site.source == "soft = F.softmax(teacher(xb), dim=1)"


def test_batch_norm_of_a_frozen_part(tmp_path: Path) -> None:
    text = HEAD + """
front = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU())
for weight in front.parameters():
    weight.requires_grad_(False)
head = nn.Linear(32, 2)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
for epoch in range(3):
    for xb, yb in train:
        loss = F.cross_entropy(head(front(3 * xb + 1)), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    seen = watch(tmp_path, text)
    assert seen.teacher is not None
    assert seen.teacher.layers == ["BatchNorm1d"]
