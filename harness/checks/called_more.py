"""Hooks, wrappers and observers that a script adds in every step and never takes away."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class CalledMoreOften(Check):
    """The model calls one function more often with every step: hooks are added anew and never removed.

    `register_forward_hook`, a wrapper around `layer.call`, an observer that is put in a list: whatever is added inside the loop stays
    until it is taken away. After a thousand steps a forward pass calls a thousand of them, each keeps what it holds, and every step is
    slower than the last.
    Sources: PyTorch docs, `torch.nn.Module.register_forward_hook` (the handle's `remove()`); `torch.utils.hooks.RemovableHandle`.
    """

    code: ClassVar[str] = "R604"
    stage: ClassVar[Stage] = "resources"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from how often a model called the script's own functions in some of the steps: by the same number more with each."""
        found = seen.growing
        if found is None:
            return None
        (first, few), (last, many) = found.counts[0], found.counts[-1]
        more = (many - few) / (last - first)
        other = found.defined if found.defined != found.site else None
        return Finding(
            message=f"The model calls `{found.function}` more often with every step: {few} times in step {first + 1}, {many} times in step "
                    f"{last + 1}. Each step adds {more:.3g}, and nothing takes them away.",
            remedy="Add it once, before the loop; or keep the handle, `handle = layer.register_forward_hook(hook)`, and call "
                   "`handle.remove()` when the step is over.",
            site=found.site,
            evidence=["Calls, by step: " + ", ".join(f"{count} in {step + 1}" for step, count in found.counts),
                      *([f"It is defined at line {other.line}: `{other.source}`"] if other is not None else [])])
