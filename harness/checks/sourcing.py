"""The lines that labels and inputs come from, as far as a script's text tells."""

from __future__ import annotations

import re

from harness.checks.data_facts import SourceFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site


def line(seen: Observation, what: str, *kinds: str) -> Site | None:
    """The latest line of one of these kinds that `labels` or `inputs` went through."""
    return next((step.site for step in seen.sources.get(what, []) if step.kind in kinds), None)


def lines(seen: Observation, what: str) -> list[Site]:
    """All lines on which `labels` or `inputs` are made or converted, the latest first."""
    return [step.site for step in seen.sources.get(what, []) if step.kind in ("made", "converted")]


def apart(seen: Observation) -> Site | None:
    """Where rows of the labels, or of the inputs, are put into an order that the others are not put into; a call that does so before an
    index by name."""
    labels, inputs = (_orders(seen, what) for what in ("labels", "inputs"))
    if not seen.sources.get("inputs"):
        return None
    alone = [step for step in (*labels, *inputs) if (step in labels) != (step in inputs)
             and step.by not in {other.by for other in (inputs if step in labels else labels)}]
    alone.sort(key=lambda step: re.fullmatch(r"\w+", step.by) is not None)
    return alone[0].site if alone else None


def _orders(seen: Observation, what: str) -> list[SourceFacts]:
    return [step for step in seen.sources.get(what, []) if step.kind == "reordered"]
