"""Label maps that were resized with interpolation."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_BORDERS, _SHARE, _STEEP, _OTHERS = 40, 0.25, 0.5, 0.25
_WIDE = 0.5  # of the borders, where the text resizes label maps
_SECOND = 0.1  # of the lines, that are of another class than most: a class that is drawn around others is one


class ResizedLabels(Check):
    """Label maps were resized as if they were pictures: along their borders lie classes that are not there.

    An interpolation takes the mean of two neighbours, and the mean of class 4 and class 0 is class 2.
    Source: torchvision docs, transforms v2 (masks are resized by nearest neighbours, whatever is asked for pictures).
    """

    code: ClassVar[str] = "D115"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from borders between fields of two classes: at many of them lies a thin line of a class whose number is between theirs.
        Where the lines are wide, so that one class seems to follow the other, the text has to resize label maps as well."""
        facts = seen.resized
        if facts is None or seen.task != "classification":
            raise NotJudged("no label maps of three classes or more were seen")
        times = [often for _, often in facts.between]
        between = sum(times)
        apart = facts.direct + between
        if between < _BORDERS or between < _SHARE * apart or facts.outside > _OTHERS * between:
            return None
        # Levels that follow each other by themselves lie between each other too; wide lines count as fields of their own.
        if apart < _STEEP * (apart + facts.near) and (facts.site is None or between < _WIDE * apart):
            return None
        if between - max(times) < _SECOND * between:
            return None
        counted = ", ".join(f"{number} ({often})" for number, often in sorted(facts.between))
        return Finding(
            message=f"At {between / apart:.0%} of the borders in the label maps lies, between two classes, a line of a third whose number "
                    "is between theirs: the maps were resized with interpolation, which makes means of class numbers.",
            remedy="Resize label maps by their nearest neighbours: `tf.image.resize(mask, size, method=\"nearest\")`, `F.interpolate(mask, "
                   "size, mode=\"nearest\")`, `mask.resize(size, Image.NEAREST)`. Interpolate the picture only.",
            site=facts.site or reading.place(seen, "getitem", "fit", "forward"),
            evidence=[f"borders between classes whose numbers differ by 2 or more: {apart}, with such a line at {between}",
                      f"borders with a line of any other class: {facts.outside}",
                      f"classes of the lines between, and how often: {counted}"])
