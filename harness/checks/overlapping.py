"""Batches that are cut out of the rows with the wrong step."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.probe_facts import SameBatchFacts
from harness.checks.tensor_facts import Site

_COMPARED = 3
_SLICE = r"\[[^\[\]]+:[^\[\]]+\]"


class OverlappingBatches(Check):
    """The batches overlap: each is another one, moved on by a few rows, or the same again.

    A row number was taken for the number of a batch: `x[i : i + size]` for every i. Rows are then trained on again and again in batches
    that hardly differ, and where there are as many batches as the rows would fill, most of the rows are never read.
    Source: Keras docs, `PyDataset` (`low = idx * batch_size`).
    """

    code: ClassVar[str] = "D112"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the first batches of the training, row by row, inputs and targets; and from steps that all had the same batch."""
        if seen.probes.same_batch is not None:
            return self._same(seen, seen.probes.same_batch)
        moves = [batch.moved for batch in seen.batches if batch.moved is not None]
        if len(moves) < _COMPARED:
            raise NotJudged("fewer than four different batches were seen, of rows with a target each")
        if not all(moves):
            return None
        move = min(moves)
        shapes = [fact.shape[0] for batch in seen.batches for fact in batch.columns.values() if fact.shape]
        size, loader = shapes[0] if shapes else 0, raised.train_loader(seen)
        evidence = [f"each of {len(moves)} batches holds rows of another one, lying off by {', '.join(map(str, moves))} of {size} rows"]
        if move == 1 and loader is not None and loader.batches:
            evidence.append(f"{loader.batches} batches that move on by 1 reach {loader.batches - 1 + size} different rows")
        return Finding(
            message=f"The batches overlap: they are cut out of the rows {move} on from one another, and each has {size}.",
            remedy="Move on by whole batches: `for i in range(0, len(x), size)`; where the number of a batch is given, "
                   "`low = index * size`, then `x[low : low + size]`.",
            site=reading.place(seen, "getitem") or _cut(seen) or reading.place(seen, "loader", "fit"), evidence=evidence)


    @staticmethod
    def _same(seen: Observation, facts: SameBatchFacts) -> Finding:
        if facts.seed is not None:
            why = f"the seed {facts.seed} is set anew before each of them, so that the same numbers are drawn"
            remedy = "Seed once, before the loop: `rng = numpy.random.default_rng(0)` or `torch.manual_seed(0)`, and go on drawing from it."
        elif seen.framework in reading.KERAS:
            why, remedy = f"the dataset gives the same for each of its {facts.batches} numbers", (
                "Make the batch by its number: `low = index * size`, then `x[low : low + size]`; random numbers come from a generator that "
                "is made once, in `__init__`.")
        else:
            why, remedy = f"the loader is begun anew for each of them, and gives its first batch, of {facts.batches}", (
                "Let the loader go on: `for batch in loader:`, in a loop over the epochs; `next(iter(loader))` begins again each time.")
        return Finding(
            message=f"All steps train on one and the same batch of {facts.rows} rows: {why}.", remedy=remedy,
            site=facts.site or reading.place(seen, "getitem", "loader", "fit"),
            evidence=[f"each of {facts.steps} steps got the inputs of the step before, number by number", *reading.own_losses(seen)])


def _cut(seen: Observation) -> Site | None:
    """The line on which inputs are cut out of others."""
    return next((step.site for step in seen.sources.get("inputs", []) if re.search(_SLICE, step.site.source)), None)
