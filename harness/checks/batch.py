"""How rows become a batch: padding, the attention mask, and tensors."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import masks, raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import BatchFacts
from harness.checks.model_facts import UnmaskedFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
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
    messages: ClassVar[tuple[str, ...]] = (*_RAGGED, *_IN_COLLATOR)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a collator, or a conversion to a tensor, says of rows that differ in size."""
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
                if match and not (_of_objects(seen) and "object" in match[0]):
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
        found = self._lost(seen) or masks.read_last(seen)
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
            return self._inverted(seen.inverted)
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
    def _inverted(found: UnmaskedFacts) -> Finding:
        """A mask in which True stands for what is real, given to layers for which it stands for what is to be left out."""
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


_TENSOR_ATTRIBUTES = "size|shape|to|dim|device|ndim|dtype|cuda|float|long|view|unsqueeze|squeeze|reshape|permute|detach|flatten|ne"
_OBJECTS = r"can't convert np\.ndarray of type numpy\.object_"
_OBJECT_ARRAY = r"Invalid dtype: object|Failed to convert a NumPy array to a Tensor \(Unsupported object type (?:float|int|bool)\)"
_LISTS = (
    rf"'(?P<kind>list|tuple|str|dict)' object has no attribute '(?:{_TENSOR_ATTRIBUTES})'",
    r"'(?P<kind>numpy\.ndarray)' object has no attribute '(?:to|dim|device|cuda|unsqueeze|detach|size\(\))'",
    r"\(\): argument '(?P<argument>\w+)' (?:\(position \d+\) )?must be Tensor, not (?P<kind>list|tuple|str|numpy\.ndarray|int|float|dict)",
    r"received an invalid combination of arguments - got \((?P<kind>list|tuple|numpy\.ndarray|str)\b",
    r"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class '(?P<kind>[\w.]+)'>",
    r"too many dimensions '(?P<kind>str)'",
    r"Unrecognized data type: (?P<argument>[xy])=",
    r"Failed to find data adapter that can handle input: (?P<adapter>.*)",
    r"list indices must be integers or slices, not tuple", r"'int' object is not callable",
)
_STRING_TENSOR = r"=tf\.Tensor\(shape=[^)]*\), dtype=string\)"
_TEXT_COLUMN = (r"features \(`(?P<feature>\w+)` in this case\) have excessive nesting",)


class ListsForTensors(Check):
    """Python lists, text or arrays arrive where tensors are wanted.

    A tokenizer gives lists unless `return_tensors` says otherwise, a dataset gives lists unless its format is set, and the default
    collator of PyTorch turns a column of lists into a list of tensors. Sources: transformers docs, `return_tensors`; datasets docs,
    "Use with PyTorch".
    """

    code: ClassVar[str] = "B103"
    stage: ClassVar[Stage] = "batch"
    requires: ClassVar[tuple[str, ...]] = ("D101",)
    messages: ClassVar[tuple[str, ...]] = (*_LISTS, _STRING_TENSOR, *_TEXT_COLUMN, _OBJECTS)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what is said of a list, a text or an array in a tensor's place."""
        hit = raised.find(seen, _TEXT_COLUMN)
        if hit and _is_text(seen, hit[0], hit[1]["feature"]):
            return self._text_column(seen, hit[0], hit[1]["feature"])
        for error in reading.raised(seen):
            if re.search(_STRING_TENSOR, error.message) and raised.in_forward(error):
                return Finding(message="Text arrives at a layer that computes with numbers.",
                               remedy="Put a `layers.TextVectorization` (adapted to the texts) and an `Embedding` first.",
                               site=raised.site_of(seen, error), evidence=[raised.quote(error)])
        hit = raised.find(seen, (_OBJECTS, _OBJECT_ARRAY))
        if hit and (hit[1].re.pattern == _OBJECTS or _of_objects(seen)):
            return Finding(message="An array of Python's objects arrives where numbers are wanted: its columns are of different kinds "
                                   "(numbers and booleans, say), or its rows of different lengths.",
                           remedy="Give all columns one kind before they become an array: `frame.astype(\"float32\").values` (for "
                                  "`pandas.get_dummies`, `dtype=\"float32\"`); texts are encoded, rows padded first.",
                           site=sourcing.line(seen, "inputs", "converted") or raised.site_of(seen, hit[0]),
                           evidence=[raised.quote(hit[0])])
        hit = raised.find(seen, _LISTS, stages=("setup", "data", "batch", "forward", "loss"))
        if hit is None or not self._of_a_batch(hit[0], hit[1]):
            if seen.exception is None and not seen.batches and not seen.steps:
                raise NotJudged("no batch was seen")
            return None
        error, match = hit
        groups = match.groupdict()
        kind = groups.get("kind") or ("numpy.ndarray" if "callable" in match[0] else "list")
        if kind in {"str", "tuple"} and "adapter" not in groups:
            what = "text" if kind == "str" else "a tuple"
        else:
            what = {"list": "a Python list", "numpy.ndarray": "a NumPy array", "NoneType": "None"}.get(kind, f"a {kind}")
        argument = f" as `{groups['argument']}`" if groups.get("argument") else ""
        return Finding(message=f"A tensor is wanted here{argument}, and {what} arrived.", remedy=_to_tensor(seen, error, kind),
                       site=raised.site_of(seen, error), evidence=[raised.quote(error)])

    @staticmethod
    def _of_a_batch(error: ExceptionFacts, match: re.Match[str]) -> bool:
        if not re.search(r"has no attribute|list indices|callable", match[0]):
            return True
        source = error.site.source if error.site else ""
        moved = re.search(r"\.(to|cuda|float|long|size|shape|unsqueeze|view)\b", source)
        if "list indices" in match[0] or "callable" in match[0]:
            return error.stage == "forward" and "/transformers/mod" in raised.innermost(error)
        return error.stage == "forward" or moved is not None or "/transformers/" in raised.innermost(error)

    @staticmethod
    def _text_column(seen: Observation, error: ExceptionFacts, feature: str) -> Finding:
        return Finding(
            message=f"The column `{feature}` still holds text when the batch is made, and text cannot become a tensor.",
            remedy=f"Take it out after tokenizing: `tokenized = raw.map(tokenize, batched=True, remove_columns=[\"{feature}\"])`"
                   + (" (or leave `remove_unused_columns` at True)." if raised.has_frame(error, r"/transformers/trainer") else "."),
            site=raised.site_of(seen, error), evidence=[raised.quote(error, 300)])


def _of_objects(seen: Observation) -> bool:
    """Whether an input is one table of Python's objects, and no column of rows that differ in length."""
    return any(loader.objects is not None for loader in seen.loaders)


def _is_text(seen: Observation, error: ExceptionFacts, feature: str) -> bool:
    """Whether the collator stumbled over a column that is no input of a model: padding would not have helped it."""
    takes = seen.model.accepts if seen.model else []
    usual = {*raised.INPUTS, *raised.LABELS, "attention_mask", "token_type_ids", "special_tokens_mask", "position_ids", "decoder_input_ids"}
    return feature not in usual and feature not in takes and not feature.endswith(("_ids", "_mask"))


def _to_tensor(seen: Observation, error: ExceptionFacts, kind: str) -> str:
    if "PIL" in kind or kind == "NoneType":
        what = "every row into a value; `__getitem__` returned None"
        what = "images into tensors, `transform=transforms.ToTensor()`" if "PIL" in kind else what
        return f"Turn {what} in the dataset."
    if kind == "str" or "must be Tensor, not str" in error.message:
        return ("Turn text into numbers first: `tokenizer(texts, padding=True, truncation=True, return_tensors=\"pt\")`; "
                "labels by a dict of ids.")
    if kind == "numpy.ndarray":
        return ("Convert the array: `torch.from_numpy(array).float()` (`.long()` for ids and class labels); tokenizers take "
                "`return_tensors=\"pt\"`.")
    if seen.framework in reading.KERAS or raised.has_frame(error, r"/(tf_)?keras/"):
        return "Give arrays: `model.fit(np.array(x), np.array(y))`; texts go through a `TextVectorization` layer first."
    if raised.has_frame(error, r"/transformers/models/"):
        return "Ask the tokenizer for tensors: `tokenizer(texts, padding=True, truncation=True, return_tensors=\"pt\")`."
    return ("Have the dataset give tensors, `dataset = dataset.with_format(\"torch\")`, or convert in the loop, `torch.tensor(rows)`; the "
            "default collator makes a list of tensors from a column of lists.")
