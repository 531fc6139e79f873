"""Metrics that are given answers and references the other way round."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

# Of these, both orders say the same.
_SYMMETRIC = {"accuracy", "accuracy_score", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "median_absolute_error",
              "matthews_corrcoef", "cohen_kappa_score", "mse", "mae", "matthews_correlation"}


class SwappedMetric(Check):
    """The metric gets predictions and references the other way round.

    Where a metric treats both alike (accuracy, mean squared error) nothing happens. Precision and recall change places, R² and
    whatever else is measured against the spread or the number of the true values is another number altogether.
    Source: scikit-learn docs, `sklearn.metrics` (`y_true` first, `y_pred` second).
    """

    code: ClassVar[str] = "E509"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges by comparing what a metric takes for references with what the model has answered."""
        asked = [call for call in seen.evaluation.metrics if call.predictions is not None and call.references is not None]
        if not asked:
            raise NotJudged("no metric was seen to get predictions and references")
        wrong = [call for call in asked if call.swapped and call.name not in _SYMMETRIC]
        if not wrong:
            return None
        first = wrong[0]
        said = [f"{name}: {value:.4g}, with the labels taken for answers" for name, value in list(first.values.items())[:3]]
        return Finding(
            message=f"`{first.name}` gets the model's answers as references, and the labels as predictions.",
            remedy="Pass the true values first and name both: `r2_score(y_true=labels, y_pred=predictions)`; the metrics of `evaluate` "
                   "and `torchmetrics` name theirs `predictions=..., references=...` and `preds, target`.",
            site=first.site or reading.place(seen, "metric", "evaluation"),
            evidence=["what the metric takes for references is what the model has answered, row by row", *said])
