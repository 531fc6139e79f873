"""Replicas that all read one and the same share of the rows."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class SameShare(Check):
    """Every replica reads the same share of the rows: the others are never read.

    Each process, worker or simulated replica is to take every n-th row, beginning with its own number. Where the number does not arrive and
    all of them begin with 0, the mean of their gradients is that of one share, and the rest of the rows is as good as not there.
    Source: PyTorch docs, `DistributedSampler` (`rank`); TensorFlow docs, `Dataset.shard` (`index`).
    """

    code: ClassVar[str] = "D126"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges shares that are taken one after the other, on one line and before any step, as many times as there are shares: all of them
        have the same number. A script that is one process of several takes one share, and says nothing of the others."""
        found = next((facts for facts in seen.shares if facts.calls == facts.same == facts.shares), None)
        if found is None:
            return None
        share = f"{found.number} of {found.shares} (counted from 0)"
        return Finding(
            message=f"{found.calls} replicas take a share of the same rows each, and all of them take number {share}: "
                    f"{1 - 1 / found.shares:.0%} of the rows are never read.",
            remedy="Give each replica its own number: `rows[rank::replicas]` with `rank` of the loop that makes them, "
                   "`dataset.shard(replicas, rank)`, `DistributedSampler(dataset, num_replicas=replicas, rank=rank)`.",
            site=found.looped or found.site,
            evidence=[f"the share is taken here: `{found.site.source}` (line {found.site.line})"] if found.site else [])
