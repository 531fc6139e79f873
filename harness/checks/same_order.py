"""Shuffled passes that all have one order."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class SameOrder(Check):
    """The rows are shuffled, and every pass has the same order.

    A `DistributedSampler` draws its order by the epoch that `set_epoch` tells it, so that all ranks draw the same; who never tells it
    keeps the order of epoch 0, and with it which rows meet in a batch and which rank gets them. A seed that is set in the loop over the
    epochs does the same to any sampler. Judged from the orders that were drawn for the passes in which the optimizer took steps.
    Source: PyTorch docs, `torch.utils.data.distributed.DistributedSampler`.
    """

    code: ClassVar[str] = "D119"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from two passes or more over the rows that one model is trained on."""
        facts = seen.same_order
        if facts is None:
            return None
        loader = raised.train_loader(seen)
        remedy = ("Call `sampler.set_epoch(epoch)` at the beginning of each epoch." if facts.by_epoch else
                  "Set the seed once, before the loop over the epochs; in the loop, let the generators go on.")
        return Finding(
            message=f"The rows are shuffled, and yet come in one order: `{facts.sampler}` has drawn the same one for all {facts.passes} "
                    "passes that were looked at.",
            remedy=remedy, site=facts.seed or facts.site or (loader.site if loader is not None else None),
            evidence=[f"the order of the first pass came again in each of the other {facts.passes - 1}, over {facts.rows} rows",
                      *(["its epoch, which it draws by, has not changed"] if facts.by_epoch else [])])
