"""Scores that are averaged over batches and are no averages."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_APART, _CALLS = 0.03, 4


class AveragedScores(Check):
    """The metric is taken of each batch and averaged, and of all rows at once it is another number.

    An accuracy is a mean over rows, and batches of one size may be averaged. F1, precision, recall, the area under a curve and R2 are not:
    in a batch without a positive F1 is 0, and a batch of sixteen has another variance than the data. Source: Forman and Scholz 2010,
    "Apples-to-Apples in Cross-Validation Studies" (F1 of parts); scikit-learn docs, `f1_score` (`zero_division`).
    """

    code: ClassVar[str] = "E531"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501", "E505")

    def check(self, seen: Observation) -> Finding | None:
        """Judges scores of scikit-learn, and a script's own, of at least four batches that a model was asked about one by one: their mean
        beside the score of all rows."""
        facts = seen.evaluation.batch_scores
        if facts is None or facts.calls < _CALLS or not math.isfinite(facts.whole) or abs(facts.mean - facts.whole) <= _APART:
            return None
        return Finding(
            message=f"`{facts.name}` is taken of each of {facts.calls} batches, {facts.mean:.3f} on average, and of their {facts.rows} "
                    f"rows at once it is {facts.whole:.3f}: it is no mean over rows, and no average of batches gives it.",
            remedy=f"Gather the answers and the references of all batches (`torch.cat`, `np.concatenate`) and call `{facts.name}` once.",
            site=facts.site, evidence=[])
