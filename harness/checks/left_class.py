"""A loss that leaves out a class which is one of those to be learnt."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_LEAST, _FEW, _ROWS = 0.02, 2, 12


class LeftClass(Check):
    """The loss leaves out a class that is there: `ignore_index` is the number of a class and not of a filler.

    Where each row has one label, nothing wants filling up, and the class of that number is never asked for: its rows give no gradient, and
    the model answers something else to them. Copied from a loss over tokens, where 0 is the padding, it costs one class.
    Source: PyTorch docs, `CrossEntropyLoss` (`ignore_index`: "a target value that is ignored and does not contribute to the gradient").
    """

    code: ClassVar[str] = "L221"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L202", "D104")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the labels of single rows that the loss was given beside its `ignore_index`, where the model answers once a row."""
        first = next((call for call in seen.loss_calls if call.row_labels), None)
        if first is None or first.inputs is None or first.ignore_index is None or len(first.inputs.shape) != 2 or not seen.batches:
            return None
        rows, classes = first.inputs.shape
        if any(not facts.shape or facts.shape[0] != rows for facts in seen.batches[0].columns.values()):
            return None  # an answer for each token, say, of which some are padding
        left, labels = first.ignore_index, Counter(first.row_labels)
        total, references = sum(labels.values()), {name for metric in seen.evaluation.metrics for name in metric.reference_counts}
        missing = bool(references) and str(left) not in references
        if not 0 <= left < classes or total < _ROWS or labels[left] < max(_FEW, _LEAST * total) or missing:
            return None
        return Finding(
            message=f"The loss ignores class {left} (`ignore_index={left}`), and {labels[left]} of {total} rows of a batch have that "
                    "label: nothing asks the model for it.",
            remedy="Leave `ignore_index` out (it is -100 by itself, which no label is), or number the classes so that the one that is to "
                   "be ignored is none of them.",
            site=reading.place(seen, "criterion") or first.site,
            evidence=["labels of a batch: " + ", ".join(f"{label} x {count}" for label, count in sorted(labels.items())[:12])])
