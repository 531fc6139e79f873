"""Padding that has labels like a text's own tokens."""

from __future__ import annotations

import math
import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_BATCHES, _SHARE = 2, 0.15
_OF_TARGETS = 0.25  # of an encoder-decoder's labels
_TEXT_SHARE = 0.4  # of a language model's, which learns from the first such token where a text ends
_OF_TOKENS = ("Give padding the label -100 (`labels + [-100] * gap`; `DataCollatorForTokenClassification` does): losses of PyTorch and of "
              "transformers leave it out. Leave it out of every metric as well, `keep = labels != -100`.")
_OF_TEXT = ("The labels of a language model are the ids of its text alone: `labels[attention_mask == 0] = -100` after the copy, as "
            "`DataCollatorForLanguageModeling` has it. Leave padding out of perplexity and accuracy as well.")
_ASKED = re.compile(r"cross_?entropy", re.IGNORECASE)
_COUNTING = {"cross_entropy", "nll", "sparse_categorical"}

_MADE = ("labels.of_no_word", "collator.filler", "collator.labels", "getitem.labels", "map.labels", "collator.made", "labels.made")


class FilledLabels(Check):
    """The tokens that fill rows up have a label, and are asked for as if they were text.

    Most of them are the easiest tokens of all, so loss and accuracy look good whatever the model makes of the text, and the label that
    they were given is learnt more than any other.
    Source: Transformers docs, Token classification ("setting the label to -100 so they're ignored by the loss function"); PyTorch docs,
    `CrossEntropyLoss(ignore_index=-100)`.
    """

    code: ClassVar[str] = "L214"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("B102", "L201")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the labels of tokens that the attention mask hides, where the loss changes with them, or is one number for each token
        and leaves none of them out."""
        targets = [batch.filled_targets for batch in seen.batches if batch.filled_targets]
        if len(targets) >= _BATCHES and min(targets) > _OF_TARGETS:
            return self._targets(seen, sum(targets) / len(targets))
        own = self._own(seen)
        if own is not None:
            return own
        batches = [batch for batch in seen.batches if batch.token_labels]
        if not batches:
            raise NotJudged("no batch with a label for each token and an attention mask was seen")
        filled, total = sum(batch.filled_labels for batch in batches), sum(batch.token_labels for batch in batches)
        labels = {batch.filled_label for batch in batches if batch.filled_labels}
        echoed = all(batch.echoed for batch in batches)
        if len(batches) < _BATCHES or len(labels) != 1 or filled < (_TEXT_SHARE if echoed else _SHARE) * total:
            return None
        label = next(iter(labels))
        if not self._counted(seen, label):
            return None
        return Finding(
            message=f"Padding is asked for like text: {filled / total:.0%} of the tokens that the loss counts fill their rows up, and all "
                    f"of these have the label {label}, " + ("their own id." if echoed else "as tokens of the text have too."),
            remedy=_OF_TEXT if echoed else _OF_TOKENS,
            site=reading.place(seen, *_MADE) or raised.built_by(seen, *raised.LABELS)
                 or next(reversed(sourcing.lines(seen, "labels")), None)
                 or reading.place(seen, "loss", "forward", "fit"),
            evidence=[f"tokens with a label in {len(batches)} batches: {total}, of which the attention mask hides {filled}",
                      *reading.own_losses(seen)])

    @staticmethod
    def _own(seen: Observation) -> Finding | None:
        """A language model and a loss of the script's own: the id at the ends of the rows is wanted more often than anything else."""
        call = next((call for call in seen.loss_calls if call.asked and call.filler is not None), None)
        if call is None or seen.task != "language" or call.weighted or call.reduction != "mean" or call.ignore_index == call.filler:
            return None
        filled, total = call.asked.get(str(call.filler), 0), sum(call.asked.values())
        if filled < _TEXT_SHARE * total:
            return None
        return Finding(
            message=f"Padding is asked for like text: {filled / total:.0%} of the tokens that the loss counts are {call.filler}, the id "
                    "that the rows are filled up with.",
            remedy=f"Leave it out: `nn.CrossEntropyLoss(ignore_index={call.filler})`, and of perplexity and accuracy as well.",
            site=reading.place(seen, "criterion") or call.site,
            evidence=[f"tokens that the loss of the first step was asked for: {total}, of which {filled} fill a row up",
                      *reading.own_losses(seen)])

    @staticmethod
    def _targets(seen: Observation, share: float) -> Finding:
        """An encoder-decoder, whose own loss leaves out what is -100 and nothing else."""
        return Finding(
            message=f"Padding is asked for like text: {share:.0%} of the labels are the id of the padding, and the loss that the model "
                    "computes leaves out -100 alone.",
            remedy="Give the padding of labels -100: `labels[labels == tokenizer.pad_token_id] = -100`, as `DataCollatorForSeq2Seq` does, "
                   "and leave it out of every metric as well.",
            site=reading.place(seen, *_MADE) or raised.built_by(seen, *raised.LABELS)
                 or next(reversed(sourcing.lines(seen, "labels")), None)
                 or reading.place(seen, "loss", "forward", "fit"),
            evidence=reading.own_losses(seen))

    @staticmethod
    def _counted(seen: Observation, label: int | None) -> bool:
        """Whether the loss takes every token: by experiment, or by one target for each, none left out by its id, without weights."""
        if seen.probes.fillers_counted is not None:
            return seen.probes.fillers_counted
        sizes = {batch.token_labels for batch in seen.batches}
        keras = seen.framework in reading.KERAS
        if keras and (seen.model is None or not seen.model.kind.startswith("TF")):
            return False  # a layer's mask may leave it out
        for call in seen.loss_calls:
            target = call.target
            if call.name not in _COUNTING or target is None or call.weighted or call.ignore_index == label:
                continue
            if keras and call.reduction == "none" and call.site is not None and _ASKED.search(call.site.source):
                continue  # the script has a number for each token, and may leave out of them what it likes
            if math.prod(target.shape) >= min(sizes) and (keras or call.reduction == "mean"):
                return True
        return False
