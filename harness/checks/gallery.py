"""Queries that are among the rows which they are to find."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class FindsItself(Check):
    """Each query finds itself: the rows that are searched hold those that are asked about.

    A row is nearest to itself, whatever a model has learnt: the first place is always right. Left out are a query's own row, or the first
    column of the ranking. Source: Musgrave, Belongie, Lim 2020, "A Metric Learning Reality Check" (how retrieval is scored); Oh Song et
    al. 2016, "Deep Metric Learning via Lifted Structured Feature Embedding" (Recall@K among the other images).
    """

    code: ClassVar[str] = "E529"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges tables of likenesses that are ranked after the training, and whose own rows nothing leaves out."""
        facts = seen.evaluation.gallery
        if facts is None:
            return None
        which = "distance to it is 0" if facts.distances else "cosine with it is 1"
        own = "torch.inf" if facts.distances else "-torch.inf"
        return Finding(
            message=f"Each query finds itself: the nearest of {facts.gallery} rows is for {facts.found} of {facts.queries} queries the "
                    f"very same vector, the {which}. The first place says nothing about the model.",
            remedy=f"Leave the query's own row out before you rank: `table.fill_diagonal_({own})`, or `table[range(len(query)), query] = "
                   f"{own}`; or search rows that are not asked about; or take one place more and drop the first, "
                   "`topk(k + 1).indices[:, 1:]`.",
            site=facts.site or reading.place(seen, "evaluation"), evidence=[])
