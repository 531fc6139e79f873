"""Masks and weights that come too late."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class MaskedMean(Check):
    """A mask, or weights, multiply a loss that is one number already: they cancel, and every place counts.

    A loss function averages by default. What is multiplied by a mask afterwards is that one number, and the sum of the products divided
    by the sum of the mask is the number again. Padding, rows without a label or of little weight count as all others do.
    Sources: PyTorch docs, `CrossEntropyLoss` (`reduction`); Keras docs, `Loss` (`reduction`).
    """

    code: ClassVar[str] = "L229"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from a product, in what goes backward, of a loss function's single number and of numbers that differ."""
        facts = seen.masked_mean
        if not seen.steps:
            raise NotJudged("no step was seen")
        if facts is None:
            return None
        shape = tuple(facts.shape)
        what = f"A mask {shape}, {facts.zeros:.0%} of it zero," if facts.zeros else f"Weights {shape}"
        keras = seen.framework in reading.KERAS
        return Finding(
            message=f"{what} multipl{'ies' if facts.zeros else 'y'} a loss that has been averaged before: it is one number, the same for "
                    "every place, and nothing is left out of it or weighed.",
            remedy=("Ask for a loss of each place, `SparseCategoricalCrossentropy(from_logits=True, reduction=\"none\")`, " if keras else
                    "Ask for a loss of each place, `cross_entropy(..., reduction=\"none\")`, ")
                   + "multiply that, and divide its sum by the sum of the mask.",
            site=facts.site or reading.place(seen, "loss"), evidence=reading.own_losses(seen))
