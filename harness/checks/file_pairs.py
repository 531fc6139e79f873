"""Files that are paired by the order in which their folders list them."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_APART = 0.5


class PairedFiles(Check):
    """Files of two folders are read in pairs that their names do not belong to.

    A folder is listed in no order that anybody promises, and two folders in two. What stands at the same place of both lists is then a
    picture and the mask of another.
    Source: Python docs, `os.listdir` and `glob` ("in arbitrary order").
    """

    code: ClassVar[str] = "D117"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the names of the files that are read one after the other, where those of one folder have their like in the other."""
        facts = seen.file_pairs
        if facts is None:
            raise NotJudged("no files of two folders were read in pairs whose names say what belongs together")
        if facts.apart < _APART * facts.pairs or facts.example is None:
            return None
        if reading.several_models(seen):
            raise NotJudged("several models are trained, and rows of two folders may be drawn apart on purpose")
        first, second = facts.example
        return Finding(
            message=f"Files of `{facts.folders[0]}` and `{facts.folders[1]}` are read in pairs that do not belong together: {facts.apart} "
                    f"of {facts.pairs}, by their names.",
            remedy="Sort both lists, `sorted(os.listdir(folder))`, or better build the second name out of the first one: "
                   "`mask = masks / (picture.stem + \"_mask.png\")`.",
            site=reading.place(seen, "listed", "loader", "getitem.targets"),
            evidence=[f"`{first}` with `{second}`", "a folder is listed in no particular order, and each in its own"])
