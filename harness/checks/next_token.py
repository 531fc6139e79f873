"""What a language model is asked for at each position: the next token, and that one unseen."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.probe_facts import ShiftFacts
from harness.checks.tensor_facts import Site

_ENDS = 16
_BATCHES, _MOSTLY = 2, 0.6


class NextToken(Check):
    """A language model is asked for the wrong token, or sees the one that it is asked for.

    Position t of a causal model answers with token t + 1. Labels that are shifted by hand for a model that shifts them itself ask for token
    t + 2; labels that nobody shifts ask for the token that was given, and copying it is enough; without a causal mask the answer stands in
    the input; and where padding and the end of a text are one token, the end may be left out with the padding.
    Sources: Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training"; Transformers docs, Causal language modeling
    ("the labels are shifted inside the model"), `DataCollatorForLanguageModeling`.
    """

    code: ClassVar[str] = "L211"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("F102", "L201", "L203")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from targets held beside the ids that the model was given, from the probe that exchanges later ids, from the labels of
        the tokens that end a text, and from those of a masked model that stand in its inputs."""
        endless = self._endless(seen)
        if endless is not None:
            return endless
        copied = self._copied(seen)
        if copied is not None:
            return copied
        shift = seen.probes.shift
        if shift is None:
            raise NotJudged("the targets are not the tokens that the model is given")
        if seen.loss_terms:
            raise NotJudged("the loss has several terms, each of which may ask for another token")
        if reading.several_models(seen):
            raise NotJudged("more than one model is trained")
        own = any(call.name == "model" for call in seen.loss_calls) or seen.trainer is not None
        kind = seen.model.kind if seen.model is not None else ""
        if shift.offset == 0 and shift.causal is False and shift.by_token and re.search(r"MaskedLM|LMHead|CausalLM|PreTraining", kind):
            message = ("Each position is asked for the very token that it is given, and nothing is hidden from the model: copying it is "
                       "enough, and nothing is learnt of the text.")
            remedy = ("Hide some tokens and ask for those alone (-100 elsewhere): `DataCollatorForLanguageModeling(tokenizer, mlm=True, "
                      "mlm_probability=0.15)`." if seen.framework == "torch" else
                      "Hide some tokens, and weigh the loss of all others with 0 (`sample_weight`).")
            return self._finding(seen, shift, message, remedy, made=True)
        if shift.offset != 1 and shift.lag != 0:
            return None  # a model that shifts its input itself
        if shift.offset > 1 and shift.causal:
            message = (f"Each position is asked for the token {shift.offset} places on, not for the next one: the labels are shifted more "
                       "than once.")
            remedy = ("Give the model the ids themselves, `labels=input_ids.clone()` (with -100 at the padding): it shifts them itself."
                      if own else "Shift once: `model(ids[:, :-1])` against `ids[:, 1:]`.")
            return self._finding(seen, shift, message, remedy, cut=sourcing.shifted(seen))
        if shift.offset == 0 and shift.causal and any("decoder_input_ids" in batch.columns for batch in seen.batches):
            message = ("The decoder is given the very tokens that it is asked for, place by place: copying them is enough, and nothing is "
                       "learnt about what comes next.")
            remedy = ("Leave `decoder_input_ids` out: the model makes them from `labels`, moved on by one behind a token that starts "
                      "(`config.decoder_start_token_id`).")
            return self._finding(seen, shift, message, remedy, given=reading.place(
                seen, "collator.decoder", "getitem.decoder", "keyed.decoder_input_ids"))
        if shift.offset == 0 and shift.causal:
            message = ("Each position is asked for the very token that it is given: copying it is enough, and nothing is learnt about what "
                       "comes next.")
            remedy = ("Shift the targets by one: `x, y = ids[:, :-1], ids[:, 1:]`." if seen.framework in reading.KERAS else
                      "Shift the targets by one: `logits = model(ids[:, :-1])` against `ids[:, 1:]`.")
            return self._finding(seen, shift, message, remedy, given=sourcing.sliced(seen))
        if shift.offset == 1 and shift.causal is False and shift.by_token:
            message = "The model sees the token that it is asked for: what it answers at a position changes with the tokens behind it."
            remedy = (("Hide what comes later: `use_causal_mask=True` in every call of a `MultiHeadAttention`, no `Bidirectional` layer, "
                       "convolutions with `padding=\"causal\"`.") if seen.framework in reading.KERAS else
                      "Hide what comes later: `mask=nn.Transformer.generate_square_subsequent_mask(length), is_causal=True` for an encoder "
                      "of torch, `is_decoder=True` in a configuration of transformers, no bidirectional layer, convolutions that are "
                      "padded on the left only.")
            return self._finding(seen, shift, message, remedy, ahead=True)
        return None

    @staticmethod
    def _copied(seen: Observation) -> Finding | None:
        """A masked language model that is asked for the tokens in sight as well as for those that are hidden."""
        shares = [batch.copied for batch in seen.batches]
        kind = seen.model.kind if seen.model is not None else ""
        if "MaskedLM" not in kind or len(shares) < _BATCHES or not all(_MOSTLY < share < 1 for share in shares):
            return None
        share = sum(shares) / len(shares)
        return Finding(
            message=f"{share:.0%} of the tokens that the model is asked for stand in its inputs, in the same place: the loss is mostly "
                    "about copying, and little about the tokens that are hidden.",
            remedy="Ask for the hidden tokens alone: `labels[~chosen] = -100`, as `DataCollatorForLanguageModeling` does it; and count "
                   "these alone in the evaluation.",
            site=reading.place(seen, "collator.labels", "getitem.labels", "map.labels", "shift.copied", "aliased", "collator", "loader",
                               "loss", "forward", "backward"),
            evidence=[f"batches that were looked at: {len(shares)}", *reading.own_losses(seen)])

    @staticmethod
    def _endless(seen: Observation) -> Finding | None:
        """The end of a text has the token of the padding, and a collator takes every one of them for padding."""
        ends, left_out = (sum(getattr(batch, name) for batch in seen.batches) for name in ("ends", "ends_left_out"))
        if ends < _ENDS or left_out < ends or not reading.script_learns(seen):
            return None
        return Finding(
            message=f"The end of a text is never asked for: padding is the same token, and all {ends} ends that were seen are left out of "
                    "the loss as padding is. The model does not learn to stop.",
            remedy="Pad with a token of its own: `tokenizer.add_special_tokens({'pad_token': '<pad>'})` and "
                   "`model.resize_token_embeddings(len(tokenizer))`; or make the labels yourself, -100 where the attention mask is 0.",
            site=reading.place(seen, "pad_token", "collator.made", "collator.labels", "getitem.labels", "map.labels", "loss"),
            evidence=[f"tokens that end a text, attended to and behind a token with a label: {ends}, of which left out (-100): {left_out}"])

    @staticmethod
    def _finding(seen: Observation, shift: ShiftFacts, message: str, remedy: str, *, ahead: bool = False, made: bool = False,
                 cut: Site | None = None, given: Site | None = None) -> Finding:
        evidence = [(f"targets that are the input token {shift.offset} places on: {100 * shift.share:.0f} % of those of a batch of "
                     f"{shift.rows} x {shift.length} ids")]
        if shift.causal is not None:
            kept = "the same" if shift.causal else "others"
            evidence.append(f"answers in the first half, when the ids of the second half are exchanged between rows: {kept}")
        # A model of transformers that computes its own loss looks ahead as its configuration has it.
        called = seen.sites.get("forward")
        library = any(call.name == "model" for call in seen.loss_calls) or (called is not None and ".train(" in called.source)
        built = ("config.is_decoder", "config.vocab_size") if library else ()
        names = ("forward", "model", "loss") if ahead else (
            *(["collator.made"] if made else []), "collator.labels", "getitem.labels", "map.labels", "getitem.computed", "getitem.targets",
            "labels.made")
        inside = reading.place(seen, *built) or shift.site if ahead else None
        # A model of the library that shifts by itself leaves the rows to be looked at, and where they were made.
        rows = raised.built_by(seen, *raised.LABELS) if library and not (ahead or made) else None
        text = ("shift.written",) if not (ahead or made) else ()
        site = given or inside or cut or reading.place(seen, *names) or rows or reading.place(seen, *text, "loss", "forward")
        return Finding(message=message, remedy=remedy, site=site, evidence=[*evidence, *reading.own_losses(seen)])
