"""A copy of the model that normalises by statistics which nobody has measured."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_SOME = 0.1  # of the rows


class UnmeasuredCopy(Check):
    """A copy of the model follows its weights and not its running statistics: it normalises by numbers that nobody measured.

    The mean and variance of a batch normalisation are buffers, no parameters. An average that is kept over `parameters()` leaves them as
    they were made, 0 and 1. Judged by asking the copy once more with the statistics of the model that was trained.
    Source: PyTorch docs, `torch.optim.swa_utils` (`update_bn`, `use_buffers`).
    """

    code: ClassVar[str] = "E522"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a copy answers in an evaluation, with its own statistics and with those of the model."""
        facts = seen.evaluation.unmeasured
        if facts is None or max(facts.apart, facts.changed) < _SOME * facts.rows:
            return None
        asked = [f"it is asked at line {facts.asked.line}: `{facts.asked.source}`"] if facts.asked is not None else []
        return Finding(
            message=f"A copy of the model follows its weights and not its buffers: {facts.layers} layers of the {facts.kind} that is asked "
                    f"here normalise by a mean of 0 and a variance of 1. With the model's own statistics {facts.changed} of {facts.rows} "
                    "rows get another answer.",
            remedy="Copy the buffers too, `for kept, own in zip(average.buffers(), model.buffers()): kept.copy_(own)`, or let PyTorch do "
                   "it: `torch.optim.swa_utils.AveragedModel(model, use_buffers=True)`, or `update_bn(loader, average)` at the end.",
            site=facts.site or facts.asked, evidence=asked)
