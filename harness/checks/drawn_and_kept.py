"""Random changes of rows that a cache keeps as they were first drawn."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class DrawnAndKept(Check):
    """Rows are changed at random before they are cached: every epoch sees the changes of the first.

    `cache()` keeps what comes out of everything before it. An augmentation there is drawn once for each row, and what was to be
    a new crop or a new noise in every epoch is one fixed picture. Judged by asking the mapped function for the same rows again.
    Source: TensorFlow guide, "Better performance with the tf.data API" (caching: what is random belongs behind it).
    """

    code: ClassVar[str] = "D121"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what the functions before a cache of the training's dataset make of the same rows when they are asked again."""
        loader = raised.train_loader(seen)
        found = loader.cached if loader is not None else None
        if loader is None or found is None or 2 * found.changed <= found.rows:
            return None
        drawn = found.drawn if found.drawn != found.site else None
        return Finding(
            message="`cache()` stands behind a function that draws at random: each row is changed once, and every later epoch gets that "
                    "same change again.",
            remedy="Cache what is always the same, and draw behind it: `data.map(decode).cache().shuffle(n).map(augment).batch(size)`.",
            site=found.site or loader.site,
            evidence=[f"{found.changed} of {found.rows} rows come out otherwise when the function is asked for them again",
                      *([f"It is mapped at line {drawn.line}: `{drawn.source}`"] if drawn is not None else [])])
