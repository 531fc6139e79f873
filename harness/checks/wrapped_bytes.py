"""Pictures and sounds of small whole numbers whose values run over."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_LEAST, _SHARE = 64, 0.005


class WrappedBytes(Check):
    """Values of pictures or sounds run over: bytes, or samples of 16 bits, that are computed with begin again at the other end.

    A byte holds 0 to 255, and what does not fit is taken modulo 256: 200 + 100 is 44, 10 - 20 is 246. Brightened pictures get black
    holes where they are brightest, and a difference of two frames is bright where it should be a little below 0. A sample of 16 bits holds
    -32768 to 32767: the square of 182 is -32412, and the power of a sound is noise. Sources: NumPy docs, "Data types", overflow errors;
    PyTorch docs, type promotion (a tensor keeps its dtype beside a Python number).
    """

    code: ClassVar[str] = "D125"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges sums, differences, products and powers of tables of such numbers, done once more with room for what comes out."""
        facts = next((facts for facts in seen.wraps if facts.wrapped >= max(_LEAST, _SHARE * facts.values)), None)
        if facts is None:
            return None
        bits = 8 if facts.dtype.endswith("8") else 16
        low = 0 if facts.dtype.startswith("u") else -(1 << bits - 1)
        kind = "a byte" if facts.dtype == "uint8" else f"`{facts.dtype}`"
        return Finding(
            message=f"Values run over: in {facts.wrapped} of {facts.values} results of `{facts.sign}` ({facts.wrapped / facts.values:.1%}) "
                    f"the true value does not fit into {kind} ({low} to {low + (1 << bits) - 1}), and {1 << bits} was taken off or added.",
            remedy="Convert before you compute, `values.astype(np.float32)`, in PyTorch `values.float()`"
                   + (", and cut off afterwards: `np.clip(picture.astype(np.float32) + shift, 0, 255)`." if bits == 8 else "."),
            site=facts.site, evidence=[f"calls that were looked at: {facts.calls}"])
