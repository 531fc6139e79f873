"""Batch normalisation whose running statistics are still those that it began with."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_CHOSEN = 0.7, 0.1  # share of the loss that is left with the mean over batches, and at least so much less
_BY_DEFAULT = 0.5, 0.5  # where nobody has chosen the part: a short training is no mistake
_LEFT = 0.4  # share of what the statistics began with
_OF_ITSELF = {True: 0.01, False: 0.1}  # what a batch makes of them by default, in Keras and in PyTorch


class SlowNorms(Check):
    """Evaluation goes by statistics that have hardly begun to follow the batches.

    Batch normalisation begins with a mean of 0 and a variance of 1, and each batch moves both by a small part. Where that part is too small
    for the number of steps, the model is evaluated by the numbers that it began with, and has been trained with those of its batches.
    Sources: PyTorch docs, BatchNorm1d (`momentum` is the part of the new batch, 0.1 by default); Keras docs, BatchNormalization (it is the
    part that is kept, 0.99 by default).
    """

    code: ClassVar[str] = "E535"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges by experiment: where two fifths and more of the statistics will be what they began with when the training ends, with the
        same weights, on rows that were trained on, in evaluation mode, the mean over the batches takes a third and more off the loss;
        half of it, and half a nat, where the part is the framework's own."""
        slow = seen.probes.slow
        if slow is None:
            raise NotJudged("no batch normalisation was seen whose statistics follow the batches too slowly for the steps that are planned")
        keras = seen.framework in reading.KERAS
        chosen = slow.part < 0.9 * _OF_ITSELF[keras]
        much, least = _CHOSEN if chosen else _BY_DEFAULT
        if slow.left < _LEFT or slow.averaged >= much * slow.own or slow.own - slow.averaged < least:
            return None
        given, usual = (1 - slow.part, "0.9 (or 0.99 with thousands of steps)") if keras else (slow.part, "0.1")
        return Finding(
            message=f"`{slow.kind}` evaluates by statistics that are to {slow.left:.0%} those that it began with: with "
                    f"`momentum={given:g}` a batch makes {slow.part:.1%} of them, and the training takes {slow.steps} steps.",
            remedy=f"`momentum={usual}`; " + ("in Keras it is the part of the old statistics that is kept." if keras else
                                              "in PyTorch it is the part of the new batch."),
            site=slow.site or reading.place(seen, "model"),
            evidence=[f"loss in evaluation mode, by the statistics that it will have then: {slow.own:.3g}",
                      f"by the mean of {slow.batches} batches, same weights and rows: {slow.averaged:.3g}"])
