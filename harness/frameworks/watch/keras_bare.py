"""Loops with a tape over variables of the script's own: no model of Keras, and mostly no optimizer either."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import LossCall
from harness.checks.training_facts import StepFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_CALLS = 60


class Bare:
    """Told of the gradients that a tape takes while no model is known. Where it is asked for those of the same variables again, and no
    optimizer has stepped in between, the script has changed them itself: that was a step."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._asked: frozenset[int] = frozenset()
        self.optimized = False

    def stepped(self, sources: Sequence[Any], losses: Sequence[float], norms: Sequence[float], calls: list[LossCall]) -> bool:
        """A tape is about to be asked for the gradients of `sources`: whether a step lies behind it. What came since the one before:
        `losses` that gradients were taken of, `norms` of these, `calls` of losses. May raise `Enough`."""
        watch, seen = self._watch, self._watch.seen
        again, self._asked = self._asked == frozenset(map(id, sources)), frozenset(map(id, sources))
        if not again or not losses or self.optimized:
            return False
        if watch.session.out_of_time:
            watch.session.enough("time")
        if watch.in_full:
            watch.session.reach("step")
            seen.framework = "keras" if seen.framework == "none" else seen.framework
            seen.steps.append(StepFacts(step=len(seen.steps) + 1, loss=sum(losses), backwards=len(losses),
                                        gradient_norm=sum(norm * norm for norm in norms) ** 0.5))
            seen.loss_calls += calls[: max(0, _CALLS - len(seen.loss_calls))]
        return True


def of_variable(*operands: Any) -> bool:
    """Whether a variable is among these: what is made of it is an answer of the script's own model."""
    import tensorflow as tf

    return any(isinstance(operand, tf.Variable) for operand in operands)
