"""Prompts that end in padding."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class PaddedPrompts(Check):
    """A decoder is to go on from padding: prompts of a batch are padded on the right.

    A decoder writes behind the last place of a row. Where a shorter prompt is filled up at its end, that is padding, and what comes after
    it follows on no word of the prompt. Judged by asking some of those rows once more, alone: without padding they are answered otherwise.
    Source: transformers docs, "Text generation" (padding side).
    """

    code: ClassVar[str] = "E521"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from masks that are 0 at the end of a prompt, and from answers with and without what they leave out."""
        facts = seen.evaluation.prompts
        if facts is None or not facts.padded:
            return None
        if not facts.alone:
            raise NotJudged(f"{facts.padded} of {facts.rows} prompts end in padding; what that changes was not asked")
        if not facts.other:
            return None
        return Finding(
            message=f"{facts.padded} of {facts.rows} prompts end in padding, and {facts.kind} writes on behind it: of {facts.alone} that "
                    f"were asked once more, alone, {facts.other} got another answer.",
            remedy='Pad on the left where something is to be written: `tokenizer.padding_side = "left"` (or `tokenizer(..., '
                   'padding_side="left")`), and hand `generate` the mask too.',
            site=facts.site, evidence=[f"rows that end in padding: {facts.padded} of {facts.rows}"])
