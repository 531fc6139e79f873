"""What Python gets no exception for: crashes of native code."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation
from harness.checks.training_facts import EndFacts

_MEANS = {"SIGSEGV": "it touched memory that is not its own",
          "SIGBUS": "it touched memory that is not there (a full `/dev/shm`, a file that shrank)",
          "SIGABRT": "it gave up by itself; the last lines it printed say why",
          "SIGILL": "it ran an instruction that this processor does not have", "SIGFPE": "it divided by zero"}


class NativeCrash(Check):
    """Native code crashes, without a traceback.

    Sources: Python docs, faulthandler; tensorflow/tensorflow#124205 (LLVM of two packages in one process).
    """

    code: ClassVar[str] = "R603"
    stage: ClassVar[Stage] = "resources"
    messages: ClassVar[tuple[str, ...]] = (r"Segmentation fault", r"Illegal instruction",
                                           r"Fatal Python error: (Aborted|Bus error|Floating point exception)")
    requires: ClassVar[tuple[str, ...]] = ("A703", "B101", "F101", "F102", "F103", "L201", "R601")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the signal that ended the process, and from the stack that `faulthandler` wrote then."""
        ended = seen.ended
        if ended is None or ended.name not in _MEANS:
            return None
        doing = f" while a native library of {ended.loading} was being loaded" if ended.loading else ""
        evidence = [f"{ended.name}: {_MEANS[ended.name]}"]
        if seen.steps:
            evidence.append(f"steps before: {len(seen.steps)}")
        return Finding(message=f"Native code crashed{doing}: the process was ended by {ended.name}, and no exception was raised.",
                       remedy=_remedy(ended), site=ended.site, evidence=evidence, stage=seen.reached)


def _remedy(ended: EndFacts) -> str:
    if ended.clash:
        return ended.clash[0].upper() + ended.clash[1:] + "."
    if ended.loading:
        return (f"Two packages may bring different builds of one library: import {ended.loading} before the others, and if that helps, "
                f"update them or keep them in environments of their own. If not, install {ended.loading} anew: its wheel may be for "
                "another processor or Python.")
    return ("Run this line alone with small inputs, on the CPU and with `num_workers=0`: what it is given (an index out of range, an array "
            "of another dtype, a pointer of `ctypes`) is the likeliest cause; then update the package that it calls.")
