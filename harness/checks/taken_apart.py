"""Splits that put rows of one person, device or recording on both sides."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_SHARED = 0.8  # of the rows that are held out


class TakenApart(Check):
    """Rows of one person (device, recording) are in the training and in the evaluation, and it is the person that has the label.

    Where all rows of a patient have the patient's diagnosis, a model that knows the patient again needs no sign of the illness. A random
    split of rows then measures how well it knows those that it has met.
    Sources: scikit-learn docs, "Cross-validation iterators for grouped data" (`GroupKFold`); Saeb et al., "The need to approximate the
    use-case in clinical machine learning" (2017).
    """

    code: ClassVar[str] = "E523"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E510",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from a random split beside a column that says whose each row is, and from the labels of each of these."""
        found = seen.grouped
        if found is None or found.shared < _SHARED or not seen.steps:
            return None
        name = found.name
        return Finding(
            message=f"The split takes rows at random, and all rows of one of the {found.groups} `{name}` have the same label: "
                    f"{found.shared:.0%} of the {found.held_rows} rows that are held out are of one that is trained on. To know it again "
                    "is enough for them.",
            remedy=f"Hold out whole ones: `train, test = next(GroupShuffleSplit(test_size=0.2).split(X, y, groups={name}))`; "
                   "`GroupKFold`, or `StratifiedGroupKFold`, for folds.",
            site=found.site,
            evidence=[f"{found.rows} rows of {found.groups} `{name}`, {found.rows / found.groups:.3g} each, with {found.labels} labels"])
