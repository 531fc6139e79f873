"""Weights of the last epoch where those of a better one were meant."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.evaluation_facts import MonitorFacts
from harness.checks.observation import Observation

_SINCE, _LAST = 5, 3  # epochs
_WORSE = 1.25  # times the best loss; a share that is lost of an accuracy


class LastWeights(Check):
    """Training stops early and keeps the weights of its last epoch: those of the best one are gone.

    `EarlyStopping` ends the training some epochs after the best one. What follows works with the weights of that moment, unless
    `restore_best_weights=True` is asked for, which is not the default.
    Source: Keras docs, `EarlyStopping` (`restore_best_weights`); Prechelt 1998, "Early Stopping - But When?".
    """

    code: ClassVar[str] = "E527"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E507", "S401", "L209")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the values of what is followed: the last ones against the best one, and against that of the first epoch."""
        left = [facts for facts in seen.evaluation.monitors if facts.leaves]
        if not left:
            return None
        if all(len(facts.values) <= _SINCE for facts in left):
            raise NotJudged("too few epochs were seen")
        facts = next((facts for facts in left if _given_away(facts)), None)
        if facts is None:
            return None
        best, since, last = _best(facts), _since(facts), facts.values[-1]
        return Finding(
            message=f"`{facts.kind}` leaves the model as it is {since} epochs after the best one: `{facts.measure}` is {last:.3g}, and was "
                    f"{best:.3g}. After the first epoch it was {facts.first:.3g}.",
            remedy=f"`{facts.kind}(monitor=\"{facts.measure}\", restore_best_weights=True, ...)`, or save the best model with "
                   "`ModelCheckpoint(save_best_only=True)` and load that.",
            site=facts.site,
            evidence=[f"{facts.measure}: " + ", ".join(f"{value:.3g}" for value in facts.values[-12:])])


def _best(facts: MonitorFacts) -> float:
    return max(facts.values) if facts.greater else min(facts.values)


def _since(facts: MonitorFacts) -> int:
    return len(facts.values) - 1 - facts.values.index(_best(facts))


def _given_away(facts: MonitorFacts) -> bool:
    """Whether what was won in training is lost again: the last epochs are worse than the first one, and far from the best one."""
    if facts.first is None or len(facts.values) <= _SINCE or _since(facts) < _SINCE:
        return False
    best, first, last = _best(facts), facts.first, statistics.median(facts.values[-_LAST:])
    if facts.greater:
        return last < first and best - last > (_WORSE - 1) * abs(best)
    return last > first and last - best > (_WORSE - 1) * abs(best)
