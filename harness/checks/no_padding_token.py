"""Rows of different lengths, and a tokenizer or a model that knows no token to fill them up with."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation
from harness.checks.probe_facts import PaddingWordFacts

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
        """Judges from what the tokenizer, or the model, says of it; and from a vocabulary that gives the padding's id to a word."""
        word = seen.probes.padding_word
        if word is not None:
            return self._shared(seen, word)
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

    @staticmethod
    def _shared(seen: Observation, found: PaddingWordFacts) -> Finding:
        """A word that is left out wherever it stands."""
        keras = seen.framework in reading.KERAS
        left = "`mask_zero=True` leaves it out wherever it stands" if keras else "`padding_idx=0` keeps its vector at zero for good"
        return Finding(
            message=f"The padding has no number of its own: 0 is that of the word {found.word!r} in `{found.vocabulary}` as well, and "
                    f"{left}. {found.held:.0%} of the rows have it.",
            remedy="Number the words from 1 on, `{word: i for i, word in enumerate(words, 1)}`, and make the table one row larger.",
            site=found.site or reading.place(seen, "embedding", "model"),
            evidence=[f"{found.rows} rows: {found.share:.1%} of their words are that one, before the padding at their ends"])
