"""Metrics that rank, and answers that have been cut before they are given to them."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

RANKING = {"roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve", "roc_auc"}
_LOST = 0.02  # of the area


class CutRanks(Check):
    """A metric that ranks gets answers of yes and no in place of scores.

    The area under a ROC curve asks how well scores bring rows into order. Cut at a threshold they have two values left, the curve one
    corner, and the area is the mean of the two classes' accuracies at that threshold.
    Source: scikit-learn docs, `roc_auc_score` (`y_score`: probabilities or decision values).
    """

    code: ClassVar[str] = "E520"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501", "E509")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from predictions of two values that are cut from scores which the model gave: both are ranked."""
        asked = seen.evaluation.ranked
        if not asked:
            raise NotJudged("no metric that ranks was seen")
        for call in asked:
            whole = any(other.name == call.name and other.own and other.areas is None for other in asked)
            if call.areas is None or whole or call.areas[1] - call.areas[0] < _LOST:
                continue
            cut, scores = call.areas
            return Finding(
                message=f"`{call.name}` gets answers that are cut to yes and no already: there is nothing left to rank. By the scores that "
                        f"they are cut from, the area under the ROC curve is {scores:.3f}, and not {cut:.3f}.",
                remedy="Give it the scores: probabilities, or the raw outputs of the model (`roc_auc_score(labels, probabilities)`); cut "
                       "them for accuracy, precision and recall alone.",
                site=call.site or reading.place(seen, "metric", "evaluation"),
                evidence=[f"{call.rows} answers, of two values"])
        return None
