"""A column that gives the answer away in training, and is empty where the answer is asked for."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_TOLD, _NEXT = 0.8, 0.75


class EmptiedColumn(Check):
    """A column that all but tells the answer in training has one and the same value in later rows.

    What is only known once the answer is known (an amount that was paid, the meals of a whole stay) stands in the archive and not in the
    rows that are asked about. A model that was trained with it looks at nothing else.
    Source: Kaufman et al. 2012, "Leakage in Data Mining" (features that are not available when the prediction is made).
    """

    code: ClassVar[str] = "D116"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D111",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the columns of the batches that were trained on, beside the target, and from those of evaluations."""
        facts = seen.emptied
        if facts is None:
            raise NotJudged("no evaluation was seen in which a column that varies in training has a single value")
        if facts.told < _TOLD or facts.next > _NEXT * facts.told:
            return None
        name = f"`{facts.name}`" if facts.name else f"Column {facts.column} of the inputs (of {facts.columns}, counted from 0)"
        return Finding(
            message=f"{name} all but gives the answer away in training, and has one and the same value in {facts.rows} rows that the model "
                    "is asked about later: it was filled in once the answer was known.",
            remedy="Leave out of the inputs what is not known yet when the answer is asked for, and whatever was computed from it.",
            site=reading.place(seen, "emptied", "fit", "loader", "forward"),
            evidence=[f"what the column tells of the target in training, by itself: {facts.told:.2f} of 1; the next: {facts.next:.2f}"])
