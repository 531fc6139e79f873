"""A loss that is scaled and gradients that are divided: the one without the other."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_FEWEST, _STEPS, _NEAR, _LARGE = 2, 3, 0.02, 16.0


class NeverUnscaled(Check):
    """The loss is multiplied before it goes backward, and the gradients are never divided again; or the other way round.

    A scale keeps small gradients within the range of float16; whatever is not divided out before the step makes the step larger by that
    factor, and what is divided without having been multiplied makes it smaller. Judged together with harm: the script's own steps do not
    train (and, with a scale that is left in, smaller ones do).
    Sources: Micikevicius et al., Mixed Precision Training (2018), section 3.2; Keras docs, `LossScaleOptimizer`.
    """

    code: ClassVar[str] = "S411"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = ("L201", "L203", "L205", "L206", "L208", "L210", "S403", "S404", "S405")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the loss that went backward beside the value of the only loss function, and from probes with smaller steps; and from
        Keras' optimizer, which divides by a scale of its own."""
        if seen.optimizer is not None and seen.optimizer.divided_by is not None and seen.optimizer.divided_by >= _LARGE:
            return self._divided(seen, seen.optimizer.divided_by)
        factor = _factor(seen)
        if factor is None or factor < _LARGE or factor * _left(seen) < _LARGE:
            return None
        better = reading.better_smaller_rate(seen)
        if better is None:
            if not reading.probe_pairs(seen):
                raise NotJudged(f"the loss is multiplied by {factor:g}, but whether that harms was not probed")
            return None
        own, other = better
        keras = seen.framework in reading.KERAS
        by = f"{factor:.4g}"
        remedy = (f"Divide before the step: `grads = [g / {by} for g in grads]`; or leave both to Keras: "
                  "`keras.optimizers.LossScaleOptimizer(optimizer)`." if keras else
                  f"Divide before the step: `for p in model.parameters(): p.grad.div_({by})`; or leave both to "
                  "`torch.amp.GradScaler`, whose `step` divides.")
        return Finding(
            message=f"The loss is multiplied by {by} before it goes backward, and the gradients are not divided by it again: each step is "
                    f"{by} times as large, and the model does not learn.",
            remedy=remedy, site=reading.place(seen, "scaled_loss", "backward", "loss", "step"),
            evidence=[f"what went backward / what the loss function gave: {by} in each of the first steps",
                      f"As it is, {reading.describe(own)}.", f"With smaller steps, {reading.describe(other)}."])

    @staticmethod
    def _divided(seen: Observation, scale: float) -> Finding | None:
        if reading.script_learns(seen):
            return None
        return Finding(
            message=f"The optimizer divides the gradients by {scale:g}, its scale for float16, and the loss was not multiplied by it: each "
                    f"step is made of {scale:g} times too little.",
            remedy="Scale the loss under the tape, `scaled = optimizer.scale_loss(loss)`, and ask for the gradients of that (in tf_keras "
                   "`get_scaled_loss`); `fit` with Keras' own `train_step` does so by itself.",
            site=reading.place(seen, "divided", "step", "fit"), evidence=reading.own_losses(seen))


def _factor(seen: Observation) -> float | None:
    """By what the loss is multiplied on its way; None where a step has several losses, or the factor is not the same each time."""
    calls = {number: [call.value for call in seen.loss_calls if call.step == number] for number in {step.step for step in seen.steps}}
    pairs = [(step.loss, calls[step.step][0]) for step in seen.steps
             if step.backwards == 1 and step.loss is not None and len(calls[step.step]) == 1]
    ratios = reading.finite(loss / value for loss, value in pairs if value)
    if len(ratios) < _FEWEST:
        return None
    first = ratios[:_STEPS]
    middle = statistics.median(first)
    return middle if all(abs(ratio - middle) <= _NEAR * abs(middle) for ratio in first) else None


def _left(seen: Observation) -> float:
    """What the script leaves of the gradients' norm, as a part of it, between the backward pass and the step; 1 where that is not known."""
    parts = reading.finite(step.gradient_norm / step.backward_norm for step in seen.steps[:_STEPS]
                           if step.gradient_norm and step.backward_norm)
    return statistics.median(parts) if parts else 1.0
