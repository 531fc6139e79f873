"""A list that holds one layer several times."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class RepeatedLayer(Check):
    """A list repeats one layer: all places of it share one set of weights.

    `[layer] * n` is a list of n references to one object. The model runs it n times over, has the weights of one, and each place undoes
    what another has learnt; a batch normalisation in it keeps one mean for what are several distributions.
    Source: Python docs, "Common Sequence Operations" (items are not copied); PyTorch docs, `torch.nn.ModuleList`.
    """

    code: ClassVar[str] = "F112"
    stage: ClassVar[Stage] = "forward"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the lists in which a model keeps its layers, and from a product in the script that makes such a list."""
        found = seen.repeated
        if found is None:
            return None
        made = f"[{found.kind}(...) for _ in range({found.times})]"
        return Finding(
            message=f"A list of {found.times} layers holds one `{found.kind}` {found.times} times: they share one set of weights.",
            remedy=f"Make each of them: `{made}`" + ("." if seen.framework in reading.KERAS else f", in PyTorch `nn.ModuleList({made})`."),
            site=found.site or reading.place(seen, "model"), evidence=[])
