"""Figures that owe to the last batch of an evaluation."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_BATCHES = 3


class LastBatchOnly(Check):
    """The figure of an evaluation is that of its last batch.

    A metric that is reset inside the loop, or answers that are compared after it, forget all batches but one.
    Sources: Keras docs, Metrics (`reset_state` at the start of each epoch); PyTorch tutorials, "Optimizing Model Parameters" (`test_loop`).
    """

    code: ClassVar[str] = "E516"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what became of the answers to each batch, or from when a metric object was reset."""
        facts = seen.evaluation.last_batch
        if facts is None:
            if not seen.evaluation.forwards and not seen.evaluation.metrics:
                raise NotJudged("no evaluation was seen")
            return None
        if facts.batches < _BATCHES or facts.last >= facts.rows:
            return None
        remedy = ("Reset the metric once, before the loop; then `update_state(...)` for each batch, and `result()` after the last."
                  if facts.reset else
                  "Compare inside the loop and add up, `right += (guess == y).sum().item()`; or collect all answers, "
                  "`guesses.append(guess)`, and compare `torch.cat(guesses)`.")
        return Finding(
            message=f"The evaluation has {facts.batches} batches, and its figure is that of the last one alone: {facts.last} of "
                    f"{facts.rows} rows.",
            remedy=remedy, site=facts.site,
            evidence=["the metric is reset before each of them" if facts.reset else
                      "nothing was made of the answers to the batches before it"])
