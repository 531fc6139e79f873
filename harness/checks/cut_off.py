"""Rows that lose what their labels go by on the way to ids."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

# Share of the rows that are cut; what the baseline loses by that, and at least so many times its noise.
_SHARE, _LOST, _NOISE = 0.2, 0.12, 4.0


class CutOff(Check):
    """Rows are cut off where their labels can be told.

    Judged by a bag of words, cross-validated on the whole texts and on what the length leaves of them: no threshold on a length alone.
    Sources: Hugging Face course, chapter 3 (truncation); Keras docs, `pad_sequences` (it cuts at the front unless told otherwise); Sun et
    al. 2019, "How to Fine-Tune BERT for Text Classification?" (head and tail of long texts).
    """

    code: ClassVar[str] = "D113"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101", "D102", "D103")

    def check(self, seen: Observation) -> Finding | None:
        """Judges where what the rows of ids were made of is known."""
        facts = seen.probes.whole
        if facts is None:
            raise NotJudged("no rows were seen that were cut from longer ones")
        noise = math.sqrt(max(facts.kept * (1 - facts.kept), 0.01) / facts.rows)
        if facts.cut < _SHARE * facts.rows or facts.whole - facts.kept < max(_LOST, _NOISE * noise):
            return None
        side = "beginning" if facts.from_front else "end"
        keep = "`truncating=\"post\"` keeps their beginning, or let" if facts.from_front else "Let"
        return Finding(
            message=f"{100 * facts.cut / facts.rows:.0f} % of the rows lose their {side}: they are cut to {facts.limit} tokens, of up to "
                    f"{facts.longest}. A plain bag of words is right on {100 * facts.whole:.0f} % of them by all of their text, and on "
                    f"{100 * facts.kept:.0f} % by what is left of it.",
            remedy=f"{keep} the length hold what the labels go by (most texts have up to {facts.longest} tokens); where that is too long "
                   "for the model, keep the part that tells, `truncation_side=\"left\"` for the end, or both ends.",
            site=facts.site, evidence=[f"rows compared: {facts.rows}, of which {facts.cut} are cut"])
