"""Metrics that do not give full marks to answers that are all right."""

from __future__ import annotations

import math
import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.metric_facts import MetricFacts, RightFacts
from harness.checks.observation import Observation

_FULL, _ALIKE = 0.9, 0.1
_ACCURACY = re.compile(r"(?<![a-z])acc(uracy)?(?![a-z])|exact|(?<!mis)match", re.IGNORECASE)
_OF_CLASSES = re.compile(r"(?<![a-z])(f1|precision|recall)(?![a-z])", re.IGNORECASE)  # 0 of a class that no row has
_ERRORS = re.compile(r"(?<![a-z])(mae|mse|rmse|mape|(?:mean_)?(?:abs|squared?|absolute)?_?err(or)?s?)(?![a-z])", re.IGNORECASE)
_AGREEMENT = re.compile(r"(?<![a-z])(r2|corr|pearson|spearman|within|acc(uracy)?)(?![a-z])", re.IGNORECASE)
_SHARE, _EQUAL, _SAME = 0.1, 1e-3, 1e-9  # of an error that the model has itself; of two that are the same sum
_NOT_OF_ANSWERS = re.compile(r"loss|baseline|chance|naive|persist", re.IGNORECASE)
_OTHERS = re.compile(r"loss|err|top|baseline|majority|chance", re.IGNORECASE)


class FullMarks(Check):
    """The metric does not give full marks to answers that are all right.

    Handed scores whose largest is the label of every place, an accuracy is 1. Where it is not, the metric reads the scores wrongly: the
    largest along another axis, places that have no label, another column. Where numbers are wanted, handed these very numbers, an error is
    0: else answers and references are of two scales. The model may be much better than the figure says.
    Source: Transformers docs, Trainer, `compute_metrics`; NumPy docs, `argmax`.
    """

    code: ClassVar[str] = "E526"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501", "E505", "E506", "E513")

    def check(self, seen: Observation) -> Finding | None:
        """Judges by asking the metric about a model that is always right; with the labels in another order it has to say as little, else it
        holds the answers against something of its own."""
        asked = [call for call in seen.evaluation.metrics if call.right is not None]
        if not asked:
            raise NotJudged("no metric of the script's own was seen that takes scores of classes and labels")
        for call in asked:
            facts = call.right
            if facts is not None and not facts.classes:
                if (numbers := self._numbers(seen, call, facts)) is not None:
                    return numbers
                continue
            found = _short(facts) if facts is not None else {}
            if facts is None or not found:
                continue
            name, value = max(found.items(), key=lambda each: each[1])
            shape = f"({', '.join(map(str, facts.shape))})"
            return Finding(
                message=f"The metric is no measure of the answers: of a model that is right at each of {facts.places} places, its {name} "
                        f"is {value:.3g}.",
                remedy=f"Take the classes along the last axis of the scores, {shape}, `predictions = logits.argmax(-1)`, and hold them "
                       "against the labels of the same places, those that are not -100. Try a metric with answers that are right before "
                       "you believe it.",
                site=facts.site or call.site or reading.place(seen, "metric", "evaluation"),
                evidence=[f"{name} of this model: {call.values[name]:.3g}; of one that is always right: {value:.3g}; of one that is, with "
                          f"the labels in another order: {facts.shuffled[name]:.3g}" if name in call.values else f"{name}: {value:.3g}"])
        return None


    @staticmethod
    def _numbers(seen: Observation, call: MetricFacts, facts: RightFacts) -> Finding | None:
        """Errors of answers that are just what is wanted."""
        found = {name: value for name, value in facts.values.items() if not _NOT_OF_ANSWERS.search(name) and name in call.values
                 and abs(value - facts.shuffled.get(name, math.inf)) <= _EQUAL * abs(value)
                 and abs(value - call.values[name]) > _SAME * abs(value)  # else it is of the references alone
                 and ((_ERRORS.search(name) and value > _SHARE * abs(call.values[name]) > 0)
                      or (_AGREEMENT.search(name) and value < _FULL))}
        if not found:
            return None
        name, value = next(iter(found.items()))
        return Finding(
            message=f"The metric is no measure of the answers: where each of {facts.places} answers is the very number that is wanted, its "
                    f"{name} is {value:.4g}.",
            remedy="Do to the references what is done to the answers: map both back to their unit, `labels * std + mean`, or neither. Try "
                   "a metric with answers that are right before you believe it.",
            site=facts.site or call.site or reading.place(seen, "metric", "evaluation"),
            evidence=[f"{name} of this model: {call.values[name]:.4g}; of one that is always right: {value:.4g}",
                      "with the references in another order, and answers that are right again, it is the same"])


def _short(facts: RightFacts) -> dict[str, float]:
    """Shares that are far from full, whatever the labels are."""
    whole = facts.present == facts.classes
    return {name: value for name, value in facts.values.items()
            if (_ACCURACY.search(name) or (whole and _OF_CLASSES.search(name))) and not _OTHERS.search(name)
            and 0 <= value < _FULL and name in facts.shuffled and abs(value - facts.shuffled[name]) <= _ALIKE}
