"""Padding and the attention mask."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import masks, raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import BatchFacts
from harness.checks.model_facts import UnmaskedFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site

# Decoders with causal attention never look at padding on the right, and some models make the mask from the ids themselves.
_MASK_NOT_NEEDED = re.compile(r"GPT|Llama|Mistral|Mixtral|Qwen|Phi|Gemma|OPT|Bloom|Falcon|CausalLM|LMHead|Mamba|RWKV|XLM(?!Rob|-?R)|"
                              r"Flaubert|XLNet|CTRL|TransfoXL")

# What is left of the distance between rows where padding has drowned it.
_COVERED = 3
_FILLED = 0.3  # of the ids
# An id is padding beyond doubt that ends so many rows, in so many lengths, of two batches; so few steps tell nothing; learning has begun.
_ROWS, _LENGTHS, _TWO, _SHORT, _BEGUN = 12, 3, 2, 20, 0.97


class AttentionMask(Check):
    """Padding reaches the model without an attention mask, so it reads the filler as text.

    Without a mask a model of the transformers library takes every position for a word. It trains, a little worse, and its answer
    for a row depends on the length of that row's neighbours. Source: transformers docs, Glossary, "attention mask".
    """

    code: ClassVar[str] = "B102"
    stage: ClassVar[Stage] = "batch"
    requires: ClassVar[tuple[str, ...]] = ("D101", "B101", "B103")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from batches: padding tokens, no (or an all-ones) mask, and a model that takes one."""
        found = (self._lost(seen) or masks.read_last(seen) or masks.diluted(seen) or masks.unread(seen) or masks.held_back(seen)
                 or masks.of_filler(seen))
        if found is not None:
            return found
        known = [batch for batch in seen.batches if batch.has_padding is not None]
        if not known and self._reads_filler(seen):
            filled = [batch for batch in seen.batches if batch.fill is not None and batch.fill.rows]
            return self._finding(seen, filled, len(filled), dropped=True)
        if not known:
            raise NotJudged("no batch of token ids whose padding token is known was seen")
        padded = [batch for batch in known if batch.has_padding]
        if not padded:
            return None
        bare = [batch for batch in padded if batch.has_attention_mask is False]
        unmasked = [batch for batch in padded if batch.has_attention_mask and batch.padding_masked is False]
        if not bare and not unmasked:
            if any(batch.has_attention_mask is None for batch in padded):
                raise NotJudged("whether the batches carry an attention mask is unknown")
            return None
        if 2 * len(bare or unmasked) < len(padded):
            raise NotJudged("most batches come with a mask that covers their padding; the model may have been tried on a row before")
        if seen.model is None or not seen.model.accepts:
            raise NotJudged("the model's arguments are unknown")
        if "attention_mask" not in seen.model.accepts:
            raise NotJudged("this model takes no attention_mask; whether it masks padding by itself cannot be seen")
        if _MASK_NOT_NEEDED.search(seen.model.kind) or seen.task == "language":
            raise NotJudged(f"{seen.model.kind} need not be told where the padding is")
        if not seen.model.pretrained and not re.search(r"For[A-Z]\w+$|Model$", seen.model.kind):
            raise NotJudged("a model of the script's own may make its mask from the ids")
        return self._finding(seen, bare or unmasked, len(padded), dropped=bool(bare))

    @staticmethod
    def _reads_filler(seen: Observation) -> bool:
        """Whether rows come filled up and unmasked: it is padding, beyond doubt, or a model learns nothing of them, although a bag of words
        does."""
        looked = [(batch, batch.fill) for batch in seen.batches if batch.fill is not None]
        model, kind = seen.model, seen.model.kind if seen.model else ""
        if len(looked) < _TWO or model is None or "attention_mask" not in model.accepts or any(fill.inside for _, fill in looked):
            return False
        takes = re.search(r"For[A-Z]\w+$|Model$", kind) and not _MASK_NOT_NEEDED.search(kind) and seen.task != "language"
        if not takes or any(batch.has_attention_mask is not False for batch, _ in looked):
            return False
        ends = [fill for _, fill in looked if fill.rows]
        if len(ends) >= _TWO and sum(fill.rows for fill in ends) >= _ROWS and max(fill.lengths for fill in ends) >= _LENGTHS:
            return True
        filled = all(fill.half and fill.share > _FILLED for _, fill in looked)
        return filled and not reading.script_learns(seen) and reading.baseline_tells(seen)

    def _lost(self, seen: Observation) -> Finding | None:
        """Masks that get lost inside a model of the script's own, or on the way to `generate`."""
        if seen.inverted is not None and 2 * seen.inverted.padded >= _COVERED:
            return self._weighed(seen, seen.inverted) if seen.inverted.weights else self._inverted(seen.inverted)
        inner = seen.unmasked
        if inner is not None and inner.covered and inner.padded >= _COVERED:
            return Finding(
                message=f"The batches are padded, and the attention mask that the {inner.kind} inside the model gets does not cover the "
                        "padding (it is 1 there): it reads the padding as text.",
                remedy="Make the mask from the ids, `mask = (ids != tokenizer.pad_token_id).long()`, or fill it up with 0 as the ids are.",
                site=inner.site or reading.place(seen, "forward"),
                evidence=[f"{inner.padded} batches, in one of them {inner.share:.0%} of the ids are padding at the ends of rows"])
        whole = seen.model is not None and "attention_mask" in seen.model.accepts and any(
            batch.has_padding and batch.has_attention_mask is False for batch in seen.batches)  # not even the outer model gets one
        if inner is not None and not whole and not inner.covered and inner.padded and not _MASK_NOT_NEEDED.search(
                inner.kind) and seen.task != "language":
            return Finding(
                message=f"The batches are padded, and no attention mask arrives at the {inner.kind} inside the model: it reads the "
                        "padding as text.",
                remedy="Pass the mask through your `forward`: `self.encoder(input_ids=ids, attention_mask=(ids != pad_token_id).long())`.",
                site=inner.site or reading.place(seen, "forward"),
                evidence=[f"{inner.padded} of the {inner.batches} batches that it was given are padded, one of them to {inner.share:.0%}"])
        if seen.generated is not None:
            return self._generating(seen.generated)
        asked = seen.asked
        if asked is None or _MASK_NOT_NEEDED.search(asked.kind) or seen.task == "language":
            return None
        fit, (start, end) = seen.probes.overfit, reading.start_and_end(reading.observed_losses(seen) or [0.0])
        able = fit is None or len(fit.losses) < _SHORT or reading.learned(fit) or end < _BEGUN * start  # or no time to see
        return self._asked(asked) if able else None

    @staticmethod
    def _weighed(seen: Observation, found: UnmaskedFacts) -> Finding:
        """Scores of a script's own, of which those of what is real are made next to nothing."""
        return Finding(
            message="The mask of the padding is the wrong way round: the weights of attention are 0 at every real position and add up to 1 "
                    "over the filler. The model reads the filler and nothing of the text.",
            remedy="Take the scores of the filler down, not those of the text: `scores.masked_fill(ids == pad_id, -torch.inf)`, or add "
                   "`(1 - mask) * -1e4` where 1 marks what is real.",
            site=found.site or reading.place(seen, "forward", "model"),
            evidence=[f"batches in which every row with filler is read so: {found.padded}; filler in one of them: {found.share:.0%}"])

    @staticmethod
    def _inverted(found: UnmaskedFacts) -> Finding:
        """A mask in which True stands for what is real, given to layers for which it stands for what is to be left out, or the reverse."""
        if found.ones:
            return Finding(
                message=f"The attention mask is the wrong way round: for {found.kind} 1 means \"read this\", and here it stands at the "
                        "padding alone. The model reads the filler and nothing of the text.",
                remedy="Mark what is real: `attention_mask = (ids != pad_id)`, as tokenizers give it.",
                site=found.site, evidence=[f"batches with such a mask: {found.padded}; filler in one of them: {found.share:.0%}"])
        return Finding(
            message="The mask of the padding is the wrong way round: for PyTorch's attention True means \"leave this out\", and here it "
                    "stands at every real position. The model reads the filler alone.",
            remedy="Mark the padding: `src_key_padding_mask=(ids == pad_id)`. The `attention_mask` of transformers is the opposite, 1 for "
                   "what is real: `mask == 0` turns one into the other.",
            site=found.site,
            evidence=[f"calls of attention layers with such a mask: {found.padded}; filler in one of them: {found.share:.0%}"])

    @staticmethod
    def _asked(found: UnmaskedFacts) -> Finding:
        """Rows that are padded for an answer, of a model that was trained with masks, or on rows that were hardly padded."""
        before = "trained on rows with hardly any padding" if found.bare else "trained with attention masks"
        return Finding(
            message=f"{found.kind} was {before}, and the padded rows that it is asked about come without a mask: it reads padding as text.",
            remedy="Pass the mask as well: all that the tokenizer gave, `model(**encoded)`, or `attention_mask=(ids != pad_id).long()`.",
            site=found.site,
            evidence=[f"{found.padded} batches, in one of them {found.share:.0%} of the ids are padding"])

    @staticmethod
    def _generating(found: UnmaskedFacts) -> Finding:
        """Prompts that a tokenizer has padded, without the mask that came with them."""
        return Finding(
            message=f"The prompts are padded, and `generate` gets them without the attention mask that came with them: {found.kind} reads "
                    "the padding as text, and goes on from there.",
            remedy="Pass all that the tokenizer gave: `model.generate(**encoded, max_new_tokens=...)`.", site=found.site,
            evidence=[f"{found.padded} batches of prompts, in one of them {found.share:.0%} of the ids are padding",
                      "the padding's id ends a text as well, or is not known to the model, so that no mask can be made from the ids"])

    @staticmethod
    def _finding(seen: Observation, batches: list[BatchFacts], padded: int, *, dropped: bool) -> Finding:
        kind = seen.model.kind if seen.model else "the model"
        loader = raised.train_loader(seen)
        what = "no attention mask arrives" if dropped else "the attention mask does not cover the padding (it is 1 there)"
        there = loader is not None and "attention_mask" in [*loader.columns, *loader.dropped_columns]
        evidence = [f"{len(batches)} of the {padded} batches with padding that were looked at"]
        evidence += [f"row: {text[:120]}" for text in batches[0].texts[:2]]
        if there:
            evidence.append("the dataset has an attention_mask column; it is left out on the way")
        if seen.framework == "torch":
            remedy = ("Pass the mask on: keep `attention_mask` among the dataset's columns and call `model(input_ids=ids, "
                      "attention_mask=mask, labels=labels)` (or `model(**batch)`).")
        else:
            remedy = "Keep the column: `to_tf_dataset(columns=[\"input_ids\", \"attention_mask\"], ...)`, or `tokenizer.model_input_names`."
        if not dropped:
            remedy = "Make the mask from the ids, `mask = (ids != tokenizer.pad_token_id).long()`, or pass on the tokenizer's own."
        return Finding(message=f"The batches are padded, and {what} at {kind}: it reads the padding as text.", remedy=remedy,
                       site=(reading.place(seen, "collator.mask", "getitem.mask") if not dropped else None) or AttentionMask._site(seen),
                       evidence=evidence)

    @staticmethod
    def _site(seen: Observation) -> Site | None:
        """In a loop of one's own the mask is passed on where the model is called; a Trainer passes on what the collator gives it."""
        loader, hidden = raised.train_loader(seen), seen.hidden.get("attention_mask")
        if hidden is not None and not any("attention_mask" in batch.columns for batch in seen.batches):
            return hidden
        called = None if seen.framework != "torch" else reading.place(seen, *(("collator", "getitem") if seen.trainer else ("forward",)))
        return called or (loader.site if loader and loader.site else reading.place(seen, "model", "fit"))
