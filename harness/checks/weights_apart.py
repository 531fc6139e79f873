"""Attention whose weights do not add up to one."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_NEAR = 0.05


class WeightsApart(Check):
    """The weights of attention are a softmax along one axis, and the sum runs along another: they do not add up to one.

    A weighted mean of the values needs, for each query, weights over the keys. A softmax over the heads, the queries or the rows of the
    batch has other numbers compete with each other, and what each query gets is no mean of anything.
    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1.
    """

    code: ClassVar[str] = "F114"
    stage: ClassVar[Stage] = "forward"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the graph of the first loss: the axis of a softmax of scores, and the one along which it is multiplied."""
        found = seen.contracted
        if found is None or (found.least is not None and found.most is not None and max(1 - found.least, found.most - 1) < _NEAR):
            return None
        sums = []
        if found.least is not None and found.most is not None:
            sums = [f"the weights of a sum come to {found.least:.3g} at least, to {found.most:.3g} at most"]
        return Finding(
            message=f"A softmax of scores of shape {tuple(found.shape)} is taken along axis {found.along}, and the sum with the values "
                    f"runs along axis {found.summed}: the weights of a query do not add up to 1.",
            remedy=f"Take it along the axis that is summed over, the keys: `softmax(scores, dim={found.summed - len(found.shape)})`.",
            site=found.site or reading.place(seen, "forward"), evidence=sums)
