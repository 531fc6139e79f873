"""Values that are learnt from the best one of the whole batch."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class BestOfAll(Check):
    """The target of a value adds the best value of the whole batch to every row, and not that of the row's own next state.

    `max()` without an axis gives one number. Every state is told that what comes next is as good as the best next state of the batch, so
    that the values grow alike and say nothing about the actions.
    Sources: Watkins, Dayan 1992, "Q-learning"; PyTorch, `torch.max`; TensorFlow, `tf.reduce_max`.
    """

    code: ClassVar[str] = "L224"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from a `max` without an axis, of a model's answers, in a sum with the rewards of several rows."""
        facts = seen.whole_best
        if not seen.steps:
            raise NotJudged("no step was seen")
        if facts is None:
            return None
        keras = seen.framework in reading.KERAS
        return Finding(
            message=f"`max` is taken without an axis: each of the {facts.rows} rows of `{facts.reward}` is added one and the same "
                    "number, the largest value of the whole batch.",
            remedy="Take the best action of each row: "
                   + ("`tf.reduce_max(values, axis=1)`." if keras else "`values.max(dim=1).values`, or `values.amax(dim=1)`."),
            site=facts.site or reading.place(seen, "loss", "backward"), evidence=reading.own_losses(seen))
