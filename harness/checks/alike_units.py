"""Layers whose units are all the same."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class AlikeUnits(Check):
    """All units of a layer are the same: their weights began alike.

    Units with the same weights give the same answers, get the same gradients, and have the same weights after each step. A layer of any
    width is one unit then. Weights that are drawn at random are what tells units apart; biases may begin at zero.
    Source: Goodfellow, Bengio, Courville, Deep Learning (2016), 8.4 ("break symmetry between different units").
    """

    code: ClassVar[str] = "F109"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("F103",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the weights before the first step and after the last that was watched."""
        facts = seen.probes.alike
        if facts is None:
            if "round 2" in seen.probes.skipped or (seen.probes.train is None and not seen.probes.skipped):
                raise NotJudged("the weights after the steps were not compared with the first ones")
            return None
        what = f"{facts.value:g} throughout" if facts.constant else "the same for each of them"
        several = f"; so are those of {facts.layers} of the model's {facts.matrices} weight matrices" if facts.layers > 1 else ""
        keras = seen.framework in reading.KERAS
        return Finding(
            message=f"The {facts.units} units of a layer are one and the same: their weights began as {what}, so that they got the same "
                    f"gradients, and are alike after {len(seen.steps)} steps.",
            remedy='Draw the weights at random: leave out `kernel_initializer` (Keras draws "glorot_uniform"), or give "he_normal"; '
                   "biases may begin at 0." if keras else
                   "Draw the weights at random: leave them as PyTorch made them, or `nn.init.kaiming_normal_(layer.weight)`; biases may "
                   "begin at 0.",
            site=facts.site or reading.place(seen, "model", "forward", "compile"),
            evidence=[f"{facts.units} units with the same weights before the first step and after the last{several}",
                      *reading.own_losses(seen)])
