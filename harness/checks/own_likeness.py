"""Contrastive losses in which a row is compared with itself."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_STEPS = 3


class OwnLikeness(Check):
    """A contrastive loss compares each row with itself.

    Nothing is more like a row than that row. Where its likeness with itself stays in the softmax, most of the softmax goes to a pair that
    every model gets right, and the pairs that are to be learnt share what is left.
    Sources: Chen et al. 2020, "A Simple Framework for Contrastive Learning of Visual Representations" (eq. 1: the sum is over k != i);
    Khosla et al. 2020, "Supervised Contrastive Learning" (eq. 2: over all rows but i).
    """

    code: ClassVar[str] = "L218"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a softmax is taken of: likenesses that are the same from either side, each row's largest on the diagonal."""
        facts = seen.likeness
        if not seen.steps:
            raise NotJudged("no step was seen")
        if facts is None or facts.steps < _STEPS:
            return None
        share = statistics.median(facts.shares)
        keras = seen.framework in reading.KERAS
        how = ("`likeness = tf.where(tf.eye(n, dtype=tf.bool), -1e9, likeness)`" if keras else
               "`likeness = likeness.masked_fill(torch.eye(n, dtype=torch.bool, device=likeness.device), float(\"-inf\"))`")
        return Finding(
            message=f"The softmax of a contrastive loss runs over the likenesses of {facts.rows} rows with each other, and each row's "
                    f"largest is that with itself, to which {share:.0%} of the softmax goes: a pair that every model gets right.",
            remedy=f"Leave the diagonal out before the softmax, in the sum as well as among the pairs that belong together: {how}.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[f"steps in which the diagonal was each row's largest, of numbers that are the same from either side: {facts.steps}",
                      f"share of the softmax on the diagonal: {', '.join(f'{value:.2f}' for value in facts.shares[:6])}",
                      *reading.own_losses(seen)])
