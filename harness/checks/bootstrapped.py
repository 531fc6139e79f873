"""Values that are learnt from values of the same model, of which the later ones should stand still."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_STEPS = 2


class TargetMoves(Check):
    """The loss of a value pulls at its target as well, which is a later value of the same model.

    A value is to come nearer to `reward + discount * later value`. Where both are differentiated, the later value comes nearer to the
    earlier one too, which is the residual gradient: slow, and wrong where what comes next is left to chance.
    Sources: Baird, Residual Algorithms (1995); Sutton, Barto, Reinforcement Learning (2018), 9.3 and 11.5.
    """

    code: ClassVar[str] = "L217"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the derivatives of the loss by two answers of a model: by the one they are minus a discount times those by the
        other, row by row."""
        facts = seen.bootstrap
        if not seen.steps:
            raise NotJudged("no step was seen")
        if facts is None or len(facts.discounts) < _STEPS:
            return None
        discount = statistics.median(facts.discounts)
        keras = seen.framework in reading.KERAS
        how = "`target = tf.stop_gradient(r + gamma * later)`" if keras else "`with torch.no_grad(): target = r + gamma * later`"
        return Finding(
            message="The target of a value moves with it: the loss pulls at the later value, which the target is made of, by "
                    f"{discount:.3g} times what it pulls at the value itself, and the other way. Both come together wherever they meet, "
                    "and not where the rewards lead.",
            remedy=f"Take no gradient of the target: {how}; best of all from a copy of the model that is brought up to date now and then.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[f"derivatives by both answers of {facts.rows} rows: one is -{discount:.3g} times the other",
                      *reading.own_losses(seen)])
