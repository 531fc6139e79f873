"""A suppression of overlapping boxes that begins at the wrong end."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_LEAST, _MOSTLY = 3, 0.3


class WeakestKept(Check):
    """Of boxes that overlap the weaker ones are kept: the suppression begins at the lowest score.

    Non-maximum suppression takes the best box, drops what overlaps it, and goes on with the best of the rest: whatever else it keeps, it
    keeps the best of all. Begun at the other end, each box is dropped by a worse one. Source: Neubeck and Van Gool 2006, "Efficient
    Non-Maximum Suppression"; torchvision docs, `nms` ("iteratively removes lower scoring boxes").
    """

    code: ClassVar[str] = "E530"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges what the script's own function of suppression kept of two boxes and more: is the best among it?"""
        for facts in seen.suppressions:
            if facts.calls >= _LEAST and facts.without_best > _MOSTLY * facts.calls:
                return Finding(
                    message=f"`{facts.function}` drops the best box: in {facts.without_best} of {facts.calls} calls the one with the "
                            "highest score was not among those that it kept. It begins with the weakest, which drop what overlaps them.",
                    remedy="Begin with the highest score: `scores.argsort(descending=True)` (NumPy: `(-scores).argsort()`, or "
                           "`scores.argsort()[::-1]`).",
                    site=facts.site, evidence=[])
        return None
