"""Answers of a model that are kept while it is trained on: by an object that forgets them, is made anew, or does neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch.stale_memos import written
from tests.frameworks.watching import found, watch

SEARCH = """
import torch
from functools import cached_property
from torch import nn
torch.manual_seed(0)
class Search:
    def __init__(self, model, rows):
        self.model, self.rows, self.kept = model, rows, None
KEPT
    def score(self, queries):
        return (self.model(queries) @ self.VECTORS.T).argmax(1)
model = nn.Linear(8, 8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(96, 8)
y = x + 0.1 * torch.randn(96, 8)
BEFORE
for epoch in range(4):
    for rows in torch.randperm(96).split(16):
        optimizer.zero_grad()
        scores = model(x[rows]) @ model(y[rows]).T
        nn.functional.cross_entropy(scores, torch.arange(len(rows))).backward()
        optimizer.step()
    AFTER
"""
PROPERTY = """
    @cached_property
    def vectors(self):
        with torch.no_grad():
            return self.model(self.rows)
"""
IF_NONE = """
    @property
    def vectors(self):
        if self.kept is None:
            self.kept = self.model(self.rows).detach()
        return self.kept
"""
FORGETS = IF_NONE + """
    def forget(self):
        self.kept = None
"""
EACH_TIME = """
    @property
    def vectors(self):
        return self.model(self.rows).detach()
"""
MADE, ASKED = "search = Search(model, y)", "with torch.no_grad():\n        search.score(x)"


def text(kept: str, before: str, after: str) -> str:
    return SEARCH.replace("KEPT", kept).replace("VECTORS", "vectors").replace("BEFORE", before).replace("AFTER", after)


@pytest.mark.parametrize(("kept", "before", "after", "source"), [
    (PROPERTY, MADE, ASKED, "def vectors(self):"), (IF_NONE, MADE, ASKED, "self.kept = self.model"), (FORGETS, MADE, ASKED, None),
    (EACH_TIME, MADE, ASKED, None), (PROPERTY, "pass", f"{MADE}\n    {ASKED}", None), (PROPERTY, MADE, "pass", None),
    (PROPERTY, "model.requires_grad_(False)\n" + MADE, ASKED, None)],
    ids=["a property", "if none", "forgets", "each time", "made anew", "never asked", "held still"])
def test_what_a_script_says(tmp_path: Path, kept: str, before: str, after: str, source: str | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text(kept, before, after))
    place = written(script)
    assert (place is not None) is (source is not None)
    if place is not None:
        assert script.read_text().splitlines()[place[1] - 1].strip().startswith(source or "")


@pytest.mark.parametrize(("kept", "fault"), [(PROPERTY, True), (EACH_TIME, False)])
def test_watched(tmp_path: Path, kept: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, text(kept, MADE, ASKED))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E536" in found(seen)) is fault
