"""Answers that `generate` cuts off."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_ANSWERS, _WANTED = 8, 16


class CutAnswers(Check):
    """The answers that a model writes are cut off before they end.

    `generate` stops at 20 tokens unless it is told otherwise. Where the texts that a model was trained to write are longer, it cannot
    write one of them, however well it has learned. Source: transformers docs, Generation, `max_new_tokens`.
    """

    code: ClassVar[str] = "E518"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the lengths of what is written and of what is wanted: most answers end at a length that most texts go beyond."""
        facts = seen.evaluation.written
        if facts is None:
            raise NotJudged("no text was written by an encoder-decoder")
        if facts.answers < _ANSWERS or facts.wanted < _WANTED or 2 * facts.cut < facts.answers or 2 * facts.longer < facts.wanted:
            return None
        where = "its default of 20 tokens" if not facts.told else f"{facts.limit} tokens, as it is told"
        return Finding(
            message=f"`generate` stops {facts.kind} at {where}, and most texts that it is trained to write are longer: its answers are cut "
                    "off, and no figure that is made of them tells how good the model is.",
            remedy=f"Say how long an answer may become: `model.generate(..., max_new_tokens={facts.longest + 8})`; a `Seq2SeqTrainer` "
                   f"takes `generation_max_length={facts.longest + 8}` among its arguments.",
            site=reading.place(seen, "training_arguments.predict_with_generate", "training_arguments") if seen.trainer else facts.site,
            evidence=[f"answers that had not ended: {facts.cut} of {facts.answers}, after {facts.limit} tokens",
                      f"texts in training that are longer: {facts.longer} of {facts.wanted}, the longest has {facts.longest} tokens"])
