"""Thresholds that are chosen by the rows which judge the model."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class TunedCut(Check):
    """A threshold is chosen by the very rows that it is then judged by.

    The best of many thresholds on some rows is best there by chance as well. What it reaches on these rows is the figure of a choice, and
    the fewer rows of the rarer class there are, the further it is from what other rows will give.
    Source: Varma and Simon, "Bias in error estimation when using cross-validation for model selection" (2006); scikit-learn docs,
    `TunedThresholdClassifierCV` (tuned by cross-validation within the training).
    """

    code: ClassVar[str] = "E533"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501", "E505", "E512")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the text: thresholds are tried in a loop against rows whose name says that they judge (test, held, later, final),
        the best one is kept, and it never cuts any others. Without a model that trains nothing is said."""
        place = reading.place(seen, "tuned_cut")
        if place is None:
            return None
        if not seen.steps:
            raise NotJudged("no training was seen whose answers are cut")
        return Finding(
            message="The threshold is the best of many on the rows that judge the model, and its figure is taken of the same rows: it is "
                    "the figure of a choice, and too good.",
            remedy="Choose it on rows of the training that are set aside for that, `best = max(cuts, key=lambda cut: f1(y_val, p_val >= "
                   "cut))`, and use it once on those that judge: `f1(y_test, p_test >= best)`.",
            site=place, evidence=["what is chosen there cuts no other rows afterwards"])
