"""Models of several layers that draw straight lines only."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import baselines, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class StraightModel(Check):
    """A model of several layers is one straight map of its inputs.

    No nonlinearity stands between the layers. However many linear ones follow each other, one alone could do what they do. Bends, products
    of inputs and an exclusive or are out of its reach, and more layers or units change nothing.
    Source: Goodfellow, Bengio, Courville, Deep Learning (2016), 6.1 ("Example: Learning XOR").
    """

    code: ClassVar[str] = "F108"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("D108", "F103", "F104", "F105", "F106")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what the model answers halfway between rows, and from what a baseline that bends tells that straight lines do not."""
        facts = seen.probes.straight
        if facts is None or _bends(seen):
            return None  # what bends may lie beyond all rows: of numbers that are huge, a rectifier lets all pass or none
        if facts.told is None or facts.bent is None:
            raise NotJudged(f"the {facts.layers} layers are one straight map; whether more than that is asked for was not measured")
        numbers = seen.probes.number_baseline is not None
        if not baselines.tells_more(facts.told, facts.bent, facts.rows, numbers=numbers):
            return None
        measure = "the rank correlation" if numbers else "the share that is right"
        keras = seen.framework in reading.KERAS
        return Finding(
            message=f"The {facts.layers} layers of the model are one straight map of its inputs, as a single one would be: nothing that "
                    "bends stands between them.",
            remedy='Put a nonlinearity behind each layer but the last: `Dense(units, activation="relu")`.' if keras else
                   "Put a nonlinearity behind each layer but the last: `nn.Sequential(nn.Linear(...), nn.ReLU(), nn.Linear(...))`, or "
                   "`torch.relu(self.first(x))` in `forward`.",
            site=facts.site or reading.place(seen, "model", "forward", "compile"),
            evidence=["halfway between two rows the model answers with the mean of what it answers for both, for every pair that was tried",
                      (f"{measure} on {facts.rows} rows, each left out in turn: {facts.told:.2f} by a baseline of straight lines, "
                       f"{facts.bent:.2f} by one that bends"), *reading.own_losses(seen)])


def _bends(seen: Observation) -> bool:
    """Whether a nonlinearity was seen that is not the one by which the answers become probabilities."""
    units = seen.model.units if seen.model is not None else []
    answered = any(call.softmaxed_in_model for call in seen.loss_calls) and bool(units) and units[-1].kind == "sigmoid"
    return len(units) > int(answered)
