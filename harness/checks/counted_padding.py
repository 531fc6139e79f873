"""Metrics over tokens that count what the loss leaves out."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.metric_facts import MetricFacts
from harness.checks.observation import Observation

_CHANGES, _SAME = 0.02, 1e-6
_SHARES = ("acc", "f1", "precision", "recall", "exact", "match", "correct", "score", "error")


class CountedPadding(Check):
    """The metric counts the places that the loss leaves out.

    The label -100 stands at padding, special tokens and the later parts of words. The loss passes over it; a comparison in NumPy does not,
    and no answer is ever -100, so that every such place counts as wrong. Source: Transformers docs, Token classification (the
    `compute_metrics` there takes places with `l != -100`).
    """

    code: ClassVar[str] = "E513"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501", "E505", "E506", "L201", "L211")

    def check(self, seen: Observation) -> Finding | None:
        """Judges by asking the metric again about rows that have more of such places: one that passes over them says the same."""
        asked = [call for call in seen.evaluation.metrics if call.longer]
        if not asked:
            raise NotJudged("no metric of the script's own over labels of which some are -100 was seen")
        last = asked[-1]
        changed, short = _changed(last), _short(last)
        if changed:
            name, (here, longer) = max(changed.items(), key=lambda each: abs(each[1][0] - each[1][1]))
            evidence = f"{name}: {here:.3g} as it is, {longer:.3g} where every row has twice as many places, all further ones -100"
        elif short:  # a model that is hardly ever right says little of longer rows
            name, full = short.popitem()
            evidence = f"{name} of a model that is right at every place that has a label: {full:.3g}, the share of these places"
        else:
            return None
        return Finding(
            message=f"The metric counts places whose label is -100, which the loss leaves out: {last.left_out:.0%} of the labels that it "
                    "is given. No answer equals -100, so each of them counts as wrong.",
            remedy="Take the other places only: `mask = labels != -100`, then `(predictions[mask] == labels[mask]).mean()`.",
            site=last.counted or last.function or last.site or reading.place(seen, "metric", "evaluation"),
            evidence=[evidence])


def _short(call: MetricFacts) -> dict[str, float]:
    """Shares that are, of answers that are all right, just the share of the places that have a label."""
    if call.right is None or not call.right.classes:
        return {}
    share = call.right.places / math.prod(call.right.shape[:-1])
    return {name: value for name, value in call.right.values.items() if share < 1 - _CHANGES and abs(value - share) < _SAME
            and name in call.longer and any(part in name.lower() for part in _SHARES)}


def _changed(call: MetricFacts) -> dict[str, tuple[float, float]]:
    """Shares that say something else of longer rows, though nothing more is to be answered."""
    return {name: (value, call.longer[name]) for name, value in call.values.items()
            if name in call.longer and any(part in name.lower() for part in _SHARES) and 0 <= value <= 1
            and abs(value - call.longer[name]) >= _CHANGES}
