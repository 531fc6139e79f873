"""A backward pass that is written by hand."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_LEAST, _SHARE = 4, 0.5


class OwnBackward(Check):
    """A backward pass that is written by hand gives another derivative than its forward pass has.

    What `backward` of a `torch.autograd.Function` returns is believed. Judged by asking the forward pass itself: a number of the
    input is changed a little, up and down, and the quotient of the differences is the derivative. Where that is 0 or unsteady, as of a
    rounding, and where what is given comes out as it is, another gradient may be meant.
    Source: PyTorch docs, "Extending PyTorch" (`torch.autograd.gradcheck`).
    """

    code: ClassVar[str] = "G310"
    stage: ClassVar[Stage] = "backward"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the derivatives of the script's own functions at some numbers of their first inputs, in 64 bits."""
        found = next((facts for facts in seen.own_backwards
                      if len(facts.ratios) >= _LEAST and len(facts.ratios) >= _SHARE * facts.compared), None)
        if found is None:
            return None
        middle = statistics.median(found.ratios)
        steady = max(abs(ratio - middle) for ratio in found.ratios) <= 0.01 * abs(middle)
        how = f"{middle:.3g} times the derivative at each of them" if steady and len(found.ratios) == found.compared else (
            f"from {min(found.ratios):.3g} to {max(found.ratios):.3g} times the derivative")
        return Finding(
            message=f"`{found.name}.backward` does not give the derivative of `{found.name}.forward`: of {found.compared} numbers that "
                    f"were changed a little it is wrong for {len(found.ratios)}.",
            remedy=f"Check it: `torch.autograd.gradcheck({found.name}.apply, (x.double().requires_grad_(),))`. If the forward pass is made "
                   "of operations of PyTorch, leave the `Function` out: autograd derives them by itself.",
            site=found.site, evidence=[f"What it gives for them: {how}"])
