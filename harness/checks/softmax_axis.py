"""A softmax along the wrong axis, where that is certain."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class SoftmaxOfOne(Check):
    """A softmax runs along an axis of length one, so that it gives 1 everywhere.

    One number alone gets all the weight. Attention whose scores have the shape (rows, tokens, 1) is meant to share its weight among the
    tokens, `dim=1`; along the last axis every token gets 1, the scores have no gradient, and what they were to choose by is lost.
    Source: Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate" (weights add up to 1 over a row).
    """

    code: ClassVar[str] = "F106"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("L209", "L210")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the shapes that a softmax of the script's own was given in the first and in a later step."""
        shape = seen.probes.softmax_of_one
        if shape is None:
            if seen.probes.initial_loss is None:
                raise NotJudged("the model was not looked into")
            return None
        keras = seen.framework in reading.KERAS
        return Finding(
            message="A softmax is taken along an axis of length one: it gives 1 everywhere, whatever it is given, and no gradient passes.",
            remedy=f"Take it along the axis that is to be chosen from: `softmax(scores, {'axis' if keras else 'dim'}=...)`, whose entries "
                   "then add up to 1.",
            site=reading.place(seen, "softmax_of_one", "model"),
            evidence=[f"what it is taken of: shape {shape}" + (", the axis of the softmax last" if keras else "")])
