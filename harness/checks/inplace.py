"""Tensors that are changed in place although the backward pass needs them as they were."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_CHANGED = r"modified by an inplace operation"
_LEAF = r"leaf Variable that requires grad .*in-place operation"
_MADE_BY = re.compile(r"output \d+ of (\w+?)(Backward\d*)?,")


class ChangedInPlace(Check):
    """A tensor is changed in place although the backward pass needs it as it was.

    Derivatives are computed from what went forward: of `exp`, `sigmoid`, `relu` and `softmax` from their results, of a product from its
    factors. A result that is filled row by row, added to with `+=`, or put through a function with `inplace=True` is not there any more.
    A weight itself may be changed in place only where no gradient is recorded.
    Source: PyTorch docs, Autograd mechanics ("In-place operations with autograd").
    """

    code: ClassVar[str] = "G309"
    stage: ClassVar[Stage] = "backward"
    requires: ClassVar[tuple[str, ...]] = ("G308",)
    messages: ClassVar[tuple[str, ...]] = (_CHANGED, _LEAF)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the exceptions of autograd, and from the calls of that step that change something."""
        leaf, changed = reading.matching(seen, _LEAF), reading.matching(seen, _CHANGED)
        error = leaf or changed
        if error is None:
            return None
        evidence = [f"{error.type}: {reading.first_line(error.message)}"]
        if leaf is not None:
            return Finding(
                message="A weight is changed in place while gradients are recorded: what would its own gradient be?",
                remedy="Change weights under `with torch.no_grad():`, or leave it to an optimizer; a tensor that is to be written into is "
                       "made without `requires_grad=True`.",
                site=error.site, evidence=evidence)
        made = _MADE_BY.search(error.message)
        by = f", the result of {made[1]}," if made is not None and made[1] != "AsStrided" else ""
        site = reading.place(seen, "changed")
        filled = site is not None and re.search(r"\][^=]*(?<![=!<>])=(?!=)", site.source) is not None
        remedy = ("Collect the parts in a list and put them together once: `parts.append(x)`, then `torch.stack(parts, dim=1)`." if filled
                  else "Write the result into a new name: `x = x + y` for `x += y`, no trailing underscore (`add_`, `clamp_`), and "
                       "`inplace=False`; where nothing else will do, `x.clone()` first.")
        return Finding(message=f"A tensor that the backward pass needs{by} is changed in place before backward() comes to it.",
                       remedy=remedy, site=site or error.site, evidence=evidence)
