"""Boxes in one form, and a function that reads them in another."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import sourcing
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation
from harness.checks.value_facts import BoxFacts

_LEAST, _MANY, _OUT = 20, 0.3, 0.1
_FORMS = {"corners": "two corners, (x0, y0, x1, y1)", "sized": "a corner and a size, (x, y, width, height)",
          "centred": "a middle and a size, (cx, cy, width, height)"}

_WRITTEN = {"corners": "x0, y0, x1, y1", "sized": "x, y, w, h", "centred": "cx, cy, w, h"}
_MADE = {"corners": {"sized": "x, y, x + w, y + h", "centred": "cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2"},
         "sized": {"corners": "x0, y0, x1 - x0, y1 - y0", "centred": "cx - w / 2, cy - h / 2, w, h"},
         "centred": {"corners": "(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0", "sized": "x + w / 2, y + h / 2, w, h"}}


class BoxForms(Check):
    """Boxes are read in another form than they have: a size is taken for a corner, or a corner for a size.

    Four numbers do not say what they are. Formats of datasets differ (COCO: corner and size; PASCAL VOC: two corners; YOLO: middle and
    size), and an overlap of boxes that are misread is a number like any other. Source: COCO data format (`bbox`: [x, y, width, height]);
    torchvision docs, `box_iou` ("boxes are expected to be in (x1, y1, x2, y2) format") and `box_convert`.
    """

    code: ClassVar[str] = "D124"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges the boxes that a function of overlap was given, whose form is known by what it says of boxes that are made for it."""
        for facts in seen.boxes:
            if facts.converts:
                found = self._converted(seen, facts)
                if found is not None:
                    return found
                continue
            if facts.rows < _LEAST:
                continue
            corners = facts.form == "corners"
            if facts.reversed <= _MANY * facts.rows if corners else facts.reversed or facts.rows < 2 * _LEAST:
                continue
            what = (f"in {facts.reversed} of {facts.rows} boxes of either argument the third number is smaller than the first, or the "
                    "fourth than the second: no box has such corners") if corners else (
                f"in all {facts.rows} boxes of both arguments the third number is larger than the first and the fourth than the second, as "
                "corners are and sizes need not be")
            return Finding(
                message=f"`{facts.function}` takes a box for {_FORMS[facts.form]}, and gets something else: {what}.",
                remedy="Bring the boxes to the form that the function reads, once and where they are loaded: "
                       + ("`x, y, w, h -> x, y, x + w, y + h` (of a middle: `cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2`)." if corners
                          else "`x0, y0, x1, y1 -> x0, y0, x1 - x0, y1 - y0` (to a middle: `(x0 + x1) / 2, (y0 + y1) / 2` in front)."),
                site=facts.site, evidence=["asked about made boxes, it gives their overlap right in that form alone"])
        return None

    @staticmethod
    def _converted(seen: Observation, facts: BoxFacts) -> Finding | None:
        """Boxes that cannot have the form which a function makes another of, and may have one other."""
        if facts.rows < 2 * _LEAST or facts.outside < _OUT * facts.rows or len(facts.fits) != 1:
            return None
        return Finding(
            message=f"`{facts.function}` takes a box for {_FORMS[facts.form]}, and gets something else: read so, {facts.outside} of "
                    f"{facts.rows} boxes reach out of the picture, and none does as {_FORMS[facts.fits[0]]}.",
            remedy="Bring the boxes to the form that the function reads, once and where they are loaded: "
                   f"`{_WRITTEN[facts.fits[0]]} -> {_MADE[facts.form][facts.fits[0]]}`.",
            site=sourcing.line(seen, "labels", "made") or facts.site,
            evidence=["asked about made boxes, it makes another form of them, and of no other",
                      *([f"called here: `{facts.site.source}` (line {facts.site.line})"] if facts.site else [])])
