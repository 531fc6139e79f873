"""Rows of different lengths, and a tokenizer or a model that knows no token to fill them up with."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_TOKENIZER = r"Asking to pad but the tokenizer does not have a padding token"
_MODEL = r"Cannot handle batch sizes > 1 if no padding token is defined"


class NoPaddingToken(Check):
    """The tokenizer, or the model's config, has no padding token.

    GPT-2, Llama and their kin were trained on texts packed end to end and never needed one. A batch of texts does, and a classifier on top
    of such a model takes the last token of each row that is no padding: it has to know which that is.
    Source: transformers docs, GPT-2 (`GPT2ForSequenceClassification`, `pad_token_id`).
    """

    code: ClassVar[str] = "B104"
    stage: ClassVar[Stage] = "batch"
    messages: ClassVar[tuple[str, ...]] = (_TOKENIZER, _MODEL)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what the tokenizer, or the model, says of it."""
        tokenizer, model = reading.matching(seen, _TOKENIZER), reading.matching(seen, _MODEL)
        if tokenizer is not None:
            return Finding(
                message="The tokenizer has no padding token, and is asked to bring texts to one length.",
                remedy="Give it one: `tokenizer.pad_token = tokenizer.eos_token`. A model that is to learn where texts end needs one "
                       "of its own: `tokenizer.add_special_tokens({\"pad_token\": \"<pad>\"})`, and a row in the model's table for it.",
                site=tokenizer.site, evidence=[raised.quote(tokenizer)])
        if model is None:
            return None
        return Finding(
            message="The model's config names no padding token, and the model has to find the last token of each row that is none.",
            remedy="Say it to the model as well as to the tokenizer: `model.config.pad_token_id = tokenizer.pad_token_id` (or "
                   "`pad_token_id=` in the config).",
            site=reading.place(seen, "model") or model.site, evidence=[raised.quote(model)], stage="batch")
