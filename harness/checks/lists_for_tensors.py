"""What arrives where tensors are wanted."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

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
        if hit and (hit[1].re.pattern == _OBJECTS or raised.of_objects(seen)):
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
