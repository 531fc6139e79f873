"""The walk itself."""

from __future__ import annotations

import pytest

from harness.checks.base import FAILED, Finding, walk
from harness.checks.observation import Observation
from harness.checks.resources import MemoryGrows


def test_a_check_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(self: MemoryGrows, seen: Observation) -> Finding:
        return Finding(message=str(1 / len(seen.steps)), remedy="")

    before = walk(Observation())
    monkeypatch.setattr(MemoryGrows, "check", check)
    after = walk(Observation())
    broken = next(result for result in after if result.code == "R602")
    assert broken.state == "skipped"
    assert broken.reason is not None
    assert broken.reason.startswith(FAILED)
    assert "ZeroDivisionError" in broken.reason
    assert [result for result in before if result.code != "R602"] == [result for result in after if result.code != "R602"]
