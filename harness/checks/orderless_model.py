"""Models that attend to the steps of a sequence and cannot tell in which order they come."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import baselines, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class OrderlessModel(Check):
    """The model cannot tell in which order the steps of a sequence come.

    Attention weighs steps by what they are and not by where they stand: without positions, a sentence is a bag of words to it.
    Source: Vaswani et al., Attention Is All You Need (2017), 3.5 ("Positional Encoding").
    """

    code: ClassVar[str] = "F110"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("F103", "F104", "F105", "F106", "F109")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the model's answers when the steps come in another order, and from what a baseline that knows their order tells that
        one without it does not."""
        facts = seen.probes.orderless
        if facts is None:
            return None
        if facts.told is None or facts.ordered is None:
            raise NotJudged(f"the order of the {facts.length} steps makes no difference to the model; whether it matters was not measured")
        numbers = seen.probes.number_baseline is not None
        if not baselines.tells_more(facts.told, facts.ordered, facts.rows, numbers=numbers):
            return None
        measure = "the rank correlation" if numbers else "the share that is right"
        return Finding(
            message=f"The model cannot tell in which order the {facts.length} steps of a row come, and what is asked for depends on it: "
                    "attention has no positions unless they are added.",
            remedy="Add positions to what goes into the first attention: `x = self.tokens(ids) + self.positions(tf.range(length))`, with "
                   "`self.positions = layers.Embedding(length, dim)`." if seen.framework in reading.KERAS else
                   "Add positions to what goes into the first attention: `x = self.tokens(ids) + self.positions(torch.arange(length))`, "
                   "with `self.positions = nn.Embedding(length, dim)`.",
            site=facts.site or reading.place(seen, "model", "forward", "compile"),
            evidence=["with the steps of each row in another order the model gives the same answers",
                      (f"{measure} on {facts.rows} rows, each left out in turn: {facts.told:.2f} by a baseline without their order, "
                       f"{facts.ordered:.2f} by one with it"), *reading.own_losses(seen)])
