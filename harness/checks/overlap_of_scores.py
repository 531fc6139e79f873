"""Dice and IoU losses of scores that are no probabilities."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class OverlapOfScores(Check):
    """A loss of overlap (Dice, IoU) is taken of raw scores, which no sigmoid or softmax has made probabilities.

    The overlap counts what both sides have in common; a score of 8 counts as eight pixels and one of -8 as less than none. The sum it is
    divided by can become zero or negative, and the best value of the loss is no longer where the masks agree.
    Source: Milletari et al. 2016, "V-Net" (section 3: the predictions are the output of a softmax).
    """

    code: ClassVar[str] = "L225"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the operations of one step: a sum of scores times targets over a sum of scores, straight from a layer."""
        if not seen.steps:
            raise NotJudged("no step was seen")
        if seen.overlap is None:
            return None
        keras = seen.framework in reading.KERAS
        return Finding(
            message="The loss divides a sum of scores times targets by a sum of scores, and the scores come straight from a layer: they "
                    "are no probabilities, but of any size and sign.",
            remedy="Make probabilities of them first: " + ("`p = tf.sigmoid(scores)`, or `activation=\"sigmoid\"` in the last layer."
                                                           if keras else "`p = torch.sigmoid(scores)`, of several classes `softmax`."),
            site=seen.overlap.site or reading.place(seen, "loss", "backward", "compile"), evidence=reading.own_losses(seen))
