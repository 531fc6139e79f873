"""Rows of different lengths in one batch."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_EXPECTED = r"expected sequence of length (?P<a>\d+) at dim \d+ \(got (?P<b>\d+)\)"
_UNABLE = (r"Unable to create tensor, you should probably activate truncation and/or padding"
           r"(?:.*features \(`(?P<feature>\w+)` in this case\))?")
_RAGGED = (
    _EXPECTED, _UNABLE,
    r"stack expects each tensor to be equal size, but got (?P<a>\[[\d, ]*\]) at entry \d+ and (?P<b>\[[\d, ]*\])",
    r"each element in list of batch should be of equal size",
    (r"Cannot batch tensors with different shapes in component \d+\. First element had shape (?P<a>\[[\d,]*\]) and element \d+ had shape "
    r"(?P<b>\[[\d,]*\])"),
    r"Cannot add tensor to the batch: number of elements does not match.*?\[tensor\]: (?P<a>\[[\d,]*\]), \[batch\]: (?P<b>\[[\d,]*\])",
    r"Can't convert non-rectangular Python sequence to Tensor",
    r"has an inhomogeneous shape after",
)
_STACKED = r"Cannot batch tensors with different shapes|Cannot add tensor to the batch"  # by `Dataset.batch`
# These are said of a batch only inside a collator; elsewhere they are about something else.
_IN_COLLATOR = (
    r"all input arrays must have the same shape",
    r"Shapes of all inputs must match: values\[0\]\.shape = (?P<a>\[[\d,]*\]) != values\[\d+\]\.shape = (?P<b>\[[\d,]*\])",
    r"Sizes of tensors must match except in dimension \d+\. Expected size (?P<a>\d+) but got size (?P<b>\d+)",
    r"Failed to convert a NumPy array to a Tensor \(Unsupported object type (?:list|numpy\.ndarray)\)",
    r"Invalid dtype: object",
    r"Unable to create tensor",
)
# Keras 3 takes the shapes of a generator from its first batches, and what differs among those may differ ever after.
_GENERATOR = r"[Gg]enerator`? yielded an element of shape \((?P<a>[\d, ]+)\) where an element of shape \((?P<b>[\dNone, ]+)\) was expected"
_COLLATING = r"/torch/utils/data/|data_collator\.py:|/datasets/utils/tf_utils\.py:|/tokenization_utils|collat"
_FITTING = (r"\.(fit|evaluate|predict|train_on_batch)\(|np\.array|tf\.constant|from_tensor_slices|torch\.(stack|cat|tensor)"
            r"|convert_to_tensor")


class RaggedBatch(Check):
    """Rows of different lengths are put into one batch without padding.

    A tensor is rectangular. The default collators stack rows as they are, so the first batch whose rows differ in length fails.
    Sources: transformers docs, Data Collator; PyTorch docs, torch.utils.data `collate_fn`.
    """

    code: ClassVar[str] = "B101"
    stage: ClassVar[Stage] = "batch"
    requires: ClassVar[tuple[str, ...]] = ("D101", "B103")
    messages: ClassVar[tuple[str, ...]] = (*_RAGGED, *_IN_COLLATOR, _GENERATOR)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a collator, or a conversion to a tensor, says of rows that differ in size."""
        between = raised.find(seen, (_GENERATOR,))
        if between is not None and seen.steps and _varies(between[1]["a"], between[1]["b"]):
            return self._between(*between)
        hit = self._hit(seen)
        if hit is None:
            if seen.exception is None and not seen.batches and not seen.steps:
                raise NotJudged("no batch was seen")
            return None
        error, match = hit
        sizes = match.groupdict()
        feature = sizes.get("feature")
        a, b = sizes.get("a"), sizes.get("b")
        differ = f" (sizes {a} and {b})" if a and b else ""
        named = f" of `{feature}`" if feature else ""
        loader = raised.train_loader(seen)
        evidence = [raised.quote(error)]
        if loader and loader.collator:
            evidence.append(f"the collator is {loader.collator}, batch size {loader.batch_size}")
        if (feature or "input_ids") in seen.cut:
            return Finding(
                message=f"The rows{named} of one batch differ in size{differ}: a stream was cut into blocks, and what was left over became "
                        "a shorter one.",
                remedy="Leave the remainder out, `total = len(ids) // block_size * block_size`, before the blocks are cut.",
                site=seen.made[feature or "input_ids"], evidence=evidence)
        batched = reading.place(seen, "batched") if re.search(_STACKED, error.message) else None
        return Finding(message=f"The rows{named} of one batch differ in size{differ}, and nothing pads them.",
                       remedy=self._remedy(seen, error, feature, a or ""), site=batched or raised.site_of(seen, error, loader),
                       evidence=evidence)

    @staticmethod
    def _between(error: ExceptionFacts, match: re.Match[str]) -> Finding:
        """Each batch of a generator is padded to its own longest row."""
        return Finding(
            message=f"The batches of the generator differ in size: one of shape ({match['a']}) comes where ({match['b']}) is "
                    "expected. Keras takes the shapes of a generator from its first batches.",
            remedy="Pad all batches to one length, `pad_sequences(rows, maxlen=MAX_LEN, padding=\"post\")`; or say that the axis "
                   "varies: `tf.data.Dataset.from_generator(batches, output_signature=(tf.TensorSpec((None, None), tf.int32), ...))`.",
            site=error.site, evidence=[raised.quote(error)])

    @staticmethod
    def _hit(seen: Observation) -> tuple[ExceptionFacts, re.Match[str]] | None:
        hit = raised.find(seen, _RAGGED)
        stacked = hit is not None and re.search(_STACKED, hit[0].message)
        if hit and (stacked or hit[0].stage not in {"forward", "loss", "backward", "step"} or raised.has_frame(hit[0], _COLLATING)):
            return None if hit[0].stage == "evaluation" and raised.has_frame(hit[0], r"compute_metrics|/evaluate/|/sklearn/") else hit
        for error in reading.raised(seen):
            source = error.site.source if error.site else ""
            inside = raised.has_frame(error, _COLLATING) or re.search(_COLLATING, error.message) or re.search(_FITTING, source)
            if not inside or (error.stage == "forward" and not raised.has_frame(error, _COLLATING)):
                continue
            for pattern in _IN_COLLATOR:
                match = re.search(pattern, raised.core(error.message))
                if match and not (raised.of_objects(seen) and "object" in match[0]):
                    return error, match
        return None

    @staticmethod
    def _remedy(seen: Observation, error: ExceptionFacts, feature: str | None, size: str) -> str:
        if feature in raised.LABELS:
            return ("Pad the labels as well, with -100, which the loss leaves out: `DataCollatorForTokenClassification(tokenizer)` (or "
                    "`DataCollatorForSeq2Seq(tokenizer, model)`) in place of the collator.")
        if size.count(",") == 2:
            return "Bring all images to one size in the dataset's transform: `transforms.Resize((224, 224))` before `ToTensor()`."
        if raised.has_frame(error, r"/transformers/trainer"):
            return ("Pad each batch to its longest row: `Trainer(..., data_collator=DataCollatorWithPadding(tokenizer))`, or give the "
                    "Trainer "
                    "the tokenizer (`processing_class=tokenizer`), which does the same.")
        if raised.has_frame(error, r"/transformers/tokenization") and error.site is not None and "tokenizer(" in error.site.source:
            return "Ask the tokenizer to pad: `tokenizer(texts, padding=True, truncation=True, return_tensors=...)`."
        source = error.site.source if error.site else ""
        if seen.framework in reading.KERAS or raised.has_frame(error, r"/tensorflow/|keras") or "tf." in source:
            return ("Pad each batch: `to_tf_dataset(..., collate_fn=DataCollatorWithPadding(tokenizer, return_tensors=\"np\"))`, "
                    "`dataset.padded_batch(batch_size)` in place of `.batch(batch_size)`, or `keras.utils.pad_sequences(rows, "
                    "padding=\"post\")` on lists.")
        return ("Pad in the collator: `DataLoader(..., collate_fn=lambda rows: torch.nn.utils.rnn.pad_sequence(rows, batch_first=True))`; "
                "with a tokenizer, `collate_fn=DataCollatorWithPadding(tokenizer)`.")


def _varies(came: str, expected: str) -> bool:
    """Whether two shapes of batches differ in nothing but the length of an axis behind the first."""
    sizes, wanted = ([part.strip() for part in text.strip(" ,").split(",")] for text in (came, expected))
    return len(sizes) == len(wanted) > 1 and wanted[0] == "None" and any(want not in ("None", size)
                                                                         for size, want in zip(sizes, wanted, strict=True))
