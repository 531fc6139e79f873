"""Answers and targets of sequences, laid out in one row each."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_MORE = 0.15


class FlattenedApart(Check):
    """Output and target are flattened in two orders: one row by row, the other step by step.

    Recurrent layers of PyTorch answer time first, `(length, rows, classes)`, and labels come rows first. Both flattened have as many
    entries, so nothing raises, and each answer is held against the label of another token of another row.
    Source: PyTorch docs, `nn.LSTM` (`batch_first`), `Tensor.reshape`.
    """

    code: ClassVar[str] = "L222"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L202", "L203")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from how well a token tells the label beside it, in the order of the answers and in the other one."""
        found = seen.flattened
        if found is None or found.other < max(found.own, found.commonest) + _MORE:
            return None
        first, second = (found.length, found.rows) if found.turned else (found.rows, found.length)
        other = "row by row" if found.turned else "step by step"
        remedy = ("Bring the output to rows first before it is flattened, `output.transpose(0, 1).reshape(-1, classes)`, or build the "
                  "layer with `batch_first=True`." if found.turned else
                  "Flatten the targets as they belong to the output: `labels.reshape(-1)` of labels of shape (rows, length).")
        return Finding(
            message=f"The output has the shape ({first}, {second}, classes) and is flattened in that order, and the target is flattened "
                    f"{other}: each answer is held against the label of another token.",
            remedy=remedy, site=found.site,
            evidence=[f"of the labels a token tells {found.other:.0%} where the target is read {other}",
                      f"in the order of the answers it tells {found.own:.0%}; the commonest label has {found.commonest:.0%}"])
