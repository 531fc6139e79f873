"""Augmentation that goes on in the evaluation."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_LEAST, _SURE = 0.05, 2.5  # of accuracy; standard errors of the difference
_ROWS = 50


class DrawnRows(Check):
    """The evaluation's rows are changed at random, as the training's are.

    Augmentation makes rows harder on purpose. Where the evaluation goes through it too, its figure is that of harder rows, and another one
    each time.
    Sources: PyTorch tutorials, transfer learning (`data_transforms` for `train` and `val`); TensorFlow docs, data augmentation.
    """

    code: ClassVar[str] = "E517"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E502", "E511")

    def check(self, seen: Observation) -> Finding | None:
        """Judges by experiment: without the part of the script that draws, the same rows are told clearly better by the same weights."""
        facts = seen.evaluation.drawn
        if facts is None:
            raise NotJudged("no evaluation was seen whose rows are changed at random by something that can be left out")
        deviation = math.sqrt((facts.own * (1 - facts.own) + facts.plain * (1 - facts.plain)) / max(facts.rows, 1))
        if facts.rows < _ROWS or facts.plain - facts.own < max(_LEAST, _SURE * deviation):
            return None
        if seen.framework in reading.KERAS:
            remedy = ("Map the augmentation over the training rows alone, `if training: dataset = dataset.map(augment)`; what every row "
                      "needs (scaling, resizing) stays for both.")
        elif facts.shared:
            remedy = ("Parts of one dataset share its augmentation. Make two datasets, one with it and one without, and take the rows of "
                      "each part by the same indices: `Subset(plain, held_out_indices)`.")
        else:
            remedy = f"Make the evaluation's dataset without it: `{facts.what}` off there, and on for the training alone."
        return Finding(
            message=f"The rows of the evaluation are changed at random each time they are read: {facts.own:.0%} of {facts.rows} are told "
                    f"rightly as they come, and {facts.plain:.0%} "
                    + (f"with `{facts.instead}` for `{facts.what}`." if facts.instead else f"without `{facts.what}`."),
            remedy=remedy, site=facts.site or reading.place(seen, "evaluation"),
            evidence=["the same rows and the same weights, in evaluation mode"])
