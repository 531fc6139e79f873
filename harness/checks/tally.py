"""Shares of right answers that are of other rows than those that were counted."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_WHOLE = 0.97  # of a dataset's rows: what a last batch that is dropped takes away is little


class Tally(Check):
    """The right answers of an evaluation are divided by a number that is not that of the rows they were counted over.

    Divided by the number of batches, a share is as large as a batch; by the rows of the training, it is too small by as much as these are
    more.
    Source: PyTorch documentation, `torch.utils.data.DataLoader`: `len(loader)` counts batches.
    """

    code: ClassVar[str] = "E525"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the script's text: a count over one loader, and a division by the batches of it or the rows of another."""
        if not seen.steps:
            raise NotJudged("no step was seen")
        found = seen.tally
        if found is None:
            return None
        part = next((loader for loader in seen.loaders if loader.role == "eval" and loader.whole and loader.batches and loader.batch_size
                     and loader.batches * loader.batch_size < _WHOLE * loader.whole), None)
        if found.own and part is None:
            return None
        what = ("all rows of its dataset, of which a sampler or `drop_last` leaves some out" if found.own else
                "the number of its batches" if found.batches else "the rows of another one")
        return Finding(
            message=f"`{found.counted}` counts the right answers over the rows of `{found.loader}` and is divided by `{found.by}`, {what}.",
            remedy=("Divide by the rows that were counted: " + ("" if found.own else f"`len({found.loader}.dataset)`, or ")
                    + "count them along, `rows += len(labels)`, which holds for `drop_last` and samplers too."),
            site=found.site, evidence=[f"{part.batches} batches of at most {part.batch_size} rows; rows of the dataset: {part.whole}"]
            if found.own and part is not None else [])
