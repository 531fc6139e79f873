"""Whether the model's input reaches its output."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import gradient_flow, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class InputMatters(Check):
    """The output does not depend on the input.

    Exchanging the inputs of two rows leaves their outputs as they were: somewhere the input is dropped, overwritten or multiplied
    by zero. Such a model can learn the share of each class, and nothing else. Source: Karpathy, "A Recipe for Training Neural
    Networks" (input-independent baseline).
    """

    code: ClassVar[str] = "F104"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("D103", "G307", "L209", "L210")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the probe that exchanges inputs between rows."""
        matters = seen.probes.input_matters
        if matters is None:
            raise NotJudged(seen.probes.skipped.get("input_matters", "the inputs of two rows were not exchanged"))
        if matters:
            return None
        if gradient_flow.fades(seen):
            raise NotJudged("the signal fades from layer to layer, in both directions: see G305")
        output = seen.model.output if seen.model else None
        if reading.script_learns(seen) or reading.several_models(seen):
            raise NotJudged("the probe saw no dependence on the input, yet the loss falls clearly")
        if output is not None and output.bad_rows:
            raise NotJudged("the outputs hold NaN, so that they cannot be compared")
        evidence = ["outputs of a batch before and after its inputs were exchanged between rows: equal"]
        if output is not None and output.std is not None:
            evidence.append(f"outputs {output.dtype}{list(output.shape)}: standard deviation {output.std:.3g} around "
                            f"{output.mean or 0.0:.3g}")
        return Finding(
            message="The model's output is the same whatever its input: exchanging the inputs of a batch between its rows changes nothing.",
            remedy="Follow the input through forward(), printing `x.std(0).max()` after each line: where it becomes 0 the input is lost (a "
                   "variable that is overwritten, a softmax or norm over an axis of size 1, a factor that is 0, the wrong variable "
                   "returned).",
            site=reading.place(seen, "output", "model"), evidence=evidence)
