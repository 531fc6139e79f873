"""Answers and references that are held against each other in two scales."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class TwoScales(Check):
    """The metric compares answers in one scale with references in another.

    A model that is trained on standardised targets, or on their logarithms, answers in these. A distance from the plain targets says how
    far the two scales are apart, and nothing of the model.
    Source: scikit-learn docs, `TransformedTargetRegressor` (answers are mapped back by the inverse before they are scored).
    """

    code: ClassVar[str] = "E519"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the targets of the training and the references of the evaluation: the same numbers in two scales, and answers in
        the first."""
        facts = seen.evaluation.two_scales
        if facts is None:
            if seen.task != "regression":
                raise NotJudged("no numbers are predicted")
            return None
        if facts.mapped:
            return None
        back = {"the logarithm": "np.expm1(answers)", "the exponential": "np.log1p(answers)"}.get(
            facts.how, "scaler.inverse_transform(answers)")
        said = "the references, moved and stretched" if facts.how.startswith("moved") else f"{facts.how} of the references"
        return Finding(
            message=f"The metric compares two scales: what the model was trained on is {said}, its answers are in that scale, and the "
                    "references that it is held against are not.",
            remedy=f"Map the answers back before anything is measured, `{back}`; or compare with references that went the way of the "
                   "training's targets.",
            site=facts.site or seen.evaluation.site,
            evidence=[f"{name}: mean {mean:.4g}, standard deviation {std:.4g}" for name, (mean, std) in (
                ("targets of the training", facts.trained), ("answers", facts.answers), (f"{facts.rows} references", facts.references))])
