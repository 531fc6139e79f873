"""Figures that owe to the last batch of an evaluation."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_BATCHES = 3


class LastBatchOnly(Check):
    """The figure of an evaluation is that of its last batch.

    A metric that is reset inside the loop, answers that are compared after it, or a count that is made anew for each batch, forget all
    batches but one.
    Sources: Keras docs, Metrics (`reset_state` at the start of each epoch); PyTorch tutorials, "Optimizing Model Parameters" (`test_loop`).
    """

    code: ClassVar[str] = "E516"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what became of the answers to each batch, from when a metric object was reset, or from where the script keeps a
        count."""
        facts = seen.evaluation.last_batch
        kept = seen.sites.get("last_kept")
        if facts is None and kept is not None and seen.evaluation.forwards >= _BATCHES:
            return Finding(
                message="What is counted for one batch of the evaluation takes the place of what was counted for the one before: the "
                        "figure is that of the last batch alone.",
                remedy="Add up: `right += (guess == y).sum().item()`; and where a dictionary collects, `totals = collections.Counter()`, "
                       "whose `update` adds, while that of a plain `dict` overwrites.",
                site=kept, evidence=[f"batches that the model was asked about: {seen.evaluation.forwards}"])
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
