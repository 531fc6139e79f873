"""Weights that are loaded for nothing."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class DrawnAnew(Check):
    """Loaded weights are drawn anew before the model runs: training begins from nothing.

    A function that draws all weights of a model draws those that were just loaded with the others. Judged where every matrix of what was
    loaded holds, when the model runs for the first time, numbers that were drawn afterwards; one part alone (a head) is drawn on purpose.
    Source: Yosinski and others, How transferable are features in deep neural networks? (2014).
    """

    code: ClassVar[str] = "A704"
    stage: ClassVar[Stage] = "setup"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what was loaded, what was drawn, and the weights at the first run."""
        back = seen.restored
        if back is None or back.how != "redrawn":
            return None
        loaded = back.loaded
        where = "" if loaded is None else f" on line {loaded.line}"
        keras = seen.framework in reading.KERAS
        return Finding(
            message=f"The weights that are loaded{where} are gone before the model has run once: all {back.weights} matrices of them are "
                    "drawn anew here.",
            remedy="Draw first and load afterwards, or draw the new layers alone: "
                   + ("a layer of Keras draws its weights when it is built, and needs no function for it." if keras else
                      "`model.head.apply(init_weights)`, not `model.apply(init_weights)`."),
            site=back.site, evidence=[f"{loaded.file}:{loaded.line}: {loaded.source}"] if loaded is not None else [])
