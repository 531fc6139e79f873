"""Samplers that tell the model another time than the one whose noise they take."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class ToldStep(Check):
    """A sampler of fewer steps tells the model the number of its own loop, and takes the noise of another step.

    A diffusion is trained with hundreds of steps and drawn from with fifty of them. The level of noise is read at `grid[k]`, and the model
    has learnt that level under the same number: told `k`, it takes a row of noise for one that is nearly clean.
    Source: Song, Meng and Ermon, "Denoising Diffusion Implicit Models" (2021), section 4.2 (a sub-sequence of the steps).
    """

    code: ClassVar[str] = "E534"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("D109", "E502", "E508")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the text: in a loop that falls, something is read at a place that a table of steps gives for the loop's number, and
        the number itself, and never the step, is filled up to one for each row."""
        place = reading.place(seen, "told_step")
        if place is None:
            return None
        if not seen.steps:
            raise NotJudged("no training was seen of a model that could be told a step")
        return Finding(
            message="The sampler reads the level of noise at the step that its table gives, and tells the model the number of the loop: a "
                    "step that is nearer to the end, with less noise than there is.",
            remedy="Tell it the same step, `t = torch.full((n,), int(grid[k]))`; best of all take `step = grid[k]` once, and use nothing "
                   "else in the loop.",
            site=place, evidence=["the loop's number is never turned into a step where the model is told the time"])
