"""Rows that lose what their labels go by."""

from __future__ import annotations

import pytest

from harness.checks.cut_off import CutOff
from harness.checks.probe_facts import ProbeFacts, WholeFacts
from tests.checks.facts import HERE, found, seen, verdict


@pytest.mark.parametrize(("cut", "kept", "whole", "fault"), [
    (400, 0.5, 0.95, True), (400, 0.8, 0.95, True), (400, 0.9, 0.95, False), (30, 0.5, 0.95, False), (400, 0.95, 0.5, False)])
@pytest.mark.parametrize(("front", "side"), [(True, "lose their beginning"), (False, "lose their end")])
def test_what_the_whole_text_tells(cut: int, kept: float, whole: float, side: str, *, front: bool, fault: bool) -> None:
    facts = WholeFacts(rows=500, cut=cut, limit=32, longest=80, kept=kept, whole=whole, from_front=front, site=HERE)
    observation = seen(probes=ProbeFacts(whole=facts))
    if fault:
        found(CutOff, observation, side, "cut to 32 tokens, of up to 80")
    else:
        assert verdict(CutOff, observation) is None
