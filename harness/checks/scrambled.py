"""Heads of an attention that are split or merged by a reshape alone."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class ScrambledHeads(Check):
    """A reshape splits or merges heads across the steps of a sequence.

    `view` and `reshape` leave all numbers in the order in which they lie. To bring [rows, heads, steps, size] to [rows, steps, heads *
    size] two axes have to change places first; without that each step of the result is made of pieces of several steps.
    Sources: Vaswani et al., Attention Is All You Need (2017), section 3.2.2; PyTorch docs, `torch.Tensor.view`.
    """

    code: ClassVar[str] = "F111"
    stage: ClassVar[Stage] = "forward"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the shapes before and after a reshape in the script's own code."""
        found = seen.scrambled
        if found is None:
            return None
        before, after = (f"[{', '.join(str(size) if size else 'rows' for size in shape)}]" for shape in (found.before, found.after))
        keras = seen.framework in reading.KERAS
        exchange = "tf.transpose(x, (0, 2, 1, 3))" if keras else "x.transpose(1, 2)"
        if found.how == "merge":
            remedy = f"Exchange the axes of heads and steps first: `{exchange}`, then `reshape`."
        else:
            remedy = (f"Cut each step into its heads first, then exchange the axes: `reshape` to [rows, steps, heads, size], then "
                      f"`{exchange}`.")
        what = "merges heads" if found.how == "merge" else "splits steps into heads"
        return Finding(
            message=f"A reshape from {before} to {after} {what} without exchanging two axes: each step is put together of pieces of "
                    "several steps.",
            remedy=remedy, site=found.site or reading.place(seen, "forward"),
            evidence=["a reshape leaves the numbers in their order, and only counts them off anew"])
