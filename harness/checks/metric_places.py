"""Whether a metric over tokens holds each answer against the token that it is meant for."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_TOKENS, _GAIN = 200, 0.1


class MetricPlaces(Check):
    """The metric compares each answer with the token before the one it is meant for.

    A causal language model answers at position t with token t + 1. The shift is done inside the model for the loss, and nowhere for the
    metric: there the script has to do it. Source: Transformers, `run_clm.py` (`preds[:, :-1]` against `labels[:, 1:]`).
    """

    code: ClassVar[str] = "E506"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501", "E505", "L211")

    def check(self, seen: Observation) -> Finding | None:
        """Judges by moving the references by one place: what agrees much better then was never meant for the places it is held against."""
        found = seen.evaluation.alignment
        if found is None:
            raise NotJudged("no answers for tokens were compared")
        if found.tokens < _TOKENS:
            raise NotJudged(f"only {found.tokens} tokens were compared")
        better = {name: both for name, both in found.values.items() if both[1] - both[0] >= _GAIN}
        if found.following - found.same < _GAIN or (found.values and not better):
            return None
        name, (here, on) = next(iter(better.items()), ("", (found.same, found.following)))
        return Finding(
            message=f"The metric holds each answer against the token that was given there: {100 * found.same:.0f} % agree, and "
                    f"{100 * found.following:.0f} % with the token after it, which a causal model answers with.",
            remedy="Shift once, before comparing: `predictions, labels = predictions[:, :-1], labels[:, 1:]` (the loss inside the model "
                   "does it by itself).",
            site=found.place or reading.place(seen, "metric", "evaluation"),
            evidence=[f"tokens compared: {found.tokens}", *([f"{name}: {here:.3g} as it is, {on:.3g} one place on"] if name else [])])
