"""Axes that a reshape was to exchange."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class ScrambledAxes(Check):
    """A reshape stands where axes should change places: what belongs together is cut up.

    `view` and `reshape` leave all numbers in the order in which they lie. To bring [rows, channels, steps] to [rows, steps, channels], or
    [rows, heads, steps, size] to [rows, steps, heads * size], two axes have to change places; without that each step of the result is made
    of pieces of several steps.
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
        heads = "tf.transpose(x, (0, 2, 1, 3))" if keras else "x.transpose(1, 2)"
        rows = "tf.transpose(x, (1, 0, 2))" if keras else "x.transpose(0, 1)"
        what, remedy = {
            "exchange": (
                "gives the axes other lengths and exchanges nothing: each step",
                _exchange(found.before, found.after, keras=keras) if found.how == "exchange" else ""),
            "rows": (
                "does not keep rows apart: each row",
                f"Bring the rows to the front first: `{rows}`, then `reshape` to [rows, parts * size]."),
            "merge": (
                "merges heads without exchanging two axes: each step",
                f"Exchange the axes of heads and steps first: `{heads}`, then `reshape`."),
            "split": (
                "splits steps into heads without exchanging two axes: each step",
                f"Cut each step into its heads first, then exchange the axes: `reshape` to [rows, steps, heads, size], then `{heads}`."),
        }[found.how]
        return Finding(
            message=f"A reshape from {before} to {after} {what} is put together of pieces of several "
                    f"{'rows' if found.how == 'rows' else 'steps'}.",
            remedy=remedy, site=found.site or reading.place(seen, "forward"),
            evidence=["a reshape leaves the numbers in their order, and only counts them off anew"])


def _exchange(before: list[int], after: list[int], *, keras: bool) -> str:
    """Which axes have to change places."""
    moved = [axis for axis, sizes in enumerate(zip(before, after, strict=True)) if sizes[0] != sizes[1]]
    if len(moved) != 2:
        return f"Exchange them: `{'tf.transpose(x, ...)' if keras else 'x.permute(...)'}`, with all axes in their new order."
    one, other = moved
    order = [other if axis == one else one if axis == other else axis for axis in range(len(before))]
    layer = f", as a layer `Permute({tuple(order[1:])})`" if one else ""
    return f"Exchange them: `tf.transpose(x, {tuple(order)})`{layer}." if keras else f"Exchange them: `x.transpose({one}, {other})`."
