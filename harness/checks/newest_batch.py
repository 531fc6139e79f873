"""Batch normalisation whose running statistics are those of the newest batch."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_MUCH, _LEAST = 0.7, 0.02  # of the loss that is left with the mean over batches; loss in nats
_SWINGS, _FAR = 1.3, 0.1  # between batches, as a factor; in nats


class NewestBatch(Check):
    """Evaluation goes by the statistics of the last batch alone.

    `momentum` of batch normalisation is the part of the new batch in PyTorch (0.1) and the part of the old statistics in Keras (0.99). The
    number of the one in the other leaves nothing of the batches before the last.
    Sources: PyTorch docs, BatchNorm1d (its note on momentum); Keras docs, BatchNormalization.
    """

    code: ClassVar[str] = "E515"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges by experiment: with the same weights, on the rows that were trained on, in evaluation mode, the mean over the batches
        takes a third and more off the loss that the shortest batch alone leads to, or the loss goes by which batch was the last."""
        hasty = seen.probes.hasty
        if hasty is None:
            raise NotJudged("no batch normalisation was seen in which a new batch outweighs those before it")
        worse = hasty.averaged < _MUCH * hasty.own and hasty.own - hasty.averaged >= _LEAST
        low, high = min(hasty.each, default=0.0), max(hasty.each, default=0.0)
        if not worse and (high <= _SWINGS * low or high - low < _FAR):
            return None
        keras = seen.framework in reading.KERAS
        usual = "0.99 (or 0.9)" if keras else "0.1"
        given = 1 - hasty.part if keras else hasty.part
        other = "PyTorch, where it is the part of the new batch" if keras else "Keras, where it is the part that is kept"
        return Finding(
            message=f"`{hasty.kind}` evaluates by the statistics of its newest batch: with `momentum={given:g}` that batch makes "
                    f"{hasty.part:.0%} of them.",
            remedy=f"`momentum={usual}`, the default. The number is that of {other}.",
            site=hasty.site or reading.place(seen, "model"),
            evidence=[f"loss in evaluation mode, by the statistics of one batch of {hasty.rows} rows: {hasty.own:.3g}",
                      f"by the mean of {hasty.batches} batches, same weights and rows: {hasty.averaged:.3g}",
                      *([f"by one batch or another: {low:.3g} to {high:.3g}"] if hasty.each else [])])
