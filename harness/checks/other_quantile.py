"""Losses of quantiles that pull to the opposite ones."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class OtherQuantile(Check):
    """A loss of quantiles pulls to the opposite ones: answer and target stand the other way round in its difference.

    The level q weighs targets above the answer, 1 - q those below it. With the difference the other way round the answer for 0.9 becomes
    that for 0.1: nine of ten targets lie above it.
    Source: Koenker, Bassett 1978, "Regression Quantiles".
    """

    code: ClassVar[str] = "L227"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the derivative of the loss by the answers, and the levels that the script's text names."""
        if not seen.steps:
            raise NotJudged("no step was seen")
        found = seen.quantiles
        if found is None:
            return None
        meant, learnt = (", ".join(f"{value:g}" for value in part) for part in (found.meant, found.learnt))
        return Finding(
            message=f"The loss pulls to the quantiles {learnt}, where the script names {meant}: it weighs what lies above the answer as "
                    "what lies below it should be, and the reverse.",
            remedy="Take the difference as `e = target - answer`: `maximum(q * e, (q - 1) * e)`.",
            site=found.site or reading.place(seen, "loss", "backward", "compile"), evidence=reading.own_losses(seen))
