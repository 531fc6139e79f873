"""Pictures of bytes whose values run over."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_LEAST, _SHARE = 64, 0.005


class WrappedBytes(Check):
    """Values of pictures run over: bytes that are added up or subtracted begin again at the other end.

    A byte holds 0 to 255, and what does not fit is taken modulo 256: 200 + 100 is 44, 10 - 20 is 246. Brightened pictures get black
    holes where they are brightest, and a difference of two frames is bright where it should be a little below 0. Sources: NumPy docs,
    "Data types", overflow errors; PyTorch docs, type promotion (a tensor keeps its dtype beside a Python number).
    """

    code: ClassVar[str] = "D125"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges sums, differences and products of tables of bytes, done once more with room for what comes out."""
        facts = next((facts for facts in seen.wraps if facts.wrapped >= max(_LEAST, _SHARE * facts.values)), None)
        if facts is None:
            return None
        return Finding(
            message=f"Values run over: in {facts.wrapped} of {facts.values} results of `{facts.sign}` ({facts.wrapped / facts.values:.1%}) "
                    "the true value does not fit into a byte (0 to 255), and 256 was taken off or added.",
            remedy="Convert before you compute, and cut off afterwards: `np.clip(picture.astype(np.float32) + shift, 0, 255)`; in PyTorch "
                   "`(picture.float() + shift).clamp(0, 255)`.",
            site=facts.site, evidence=[f"calls that were looked at: {facts.calls}"])
