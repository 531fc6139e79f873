"""Weights that are kept in half precision and trained in steps that are too small for it."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.training_facts import RoundedFacts

_LOST, _STEPS = 0.5, 2
_DIGITS = {"bfloat16": 8, "float16": 11}  # of the significand


class RoundedAway(Check):
    """Weights are kept in 16 bits, and the optimizer's steps are lost in rounding.

    Between two numbers of bfloat16 lies 1/128 of their size (1/1024 in float16): whatever is below half of that leaves a weight as it is.
    Measured, not looked up: the same steps of the same optimizer are taken in float32 beside the script's.
    Sources: Micikevicius et al., Mixed Precision Training (2018), section 3.1 (a master copy of the weights in float32); Zamirai et al.,
    Revisiting BFloat16 Training (2020).
    """

    code: ClassVar[str] = "S410"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = ("G304",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what arrives in the weights beside what was asked for; while a rate rises, its steps may become large enough."""
        facts = seen.rounded
        if facts is None or facts.steps < _STEPS or facts.lost < _LOST:
            return None
        rates = reading.finite(step.learning_rate for step in seen.steps)
        if len(rates) > 1 and rates[-1] > rates[0]:
            raise NotJudged("the learning rate is still on its way up, and larger steps may arrive")
        keras = seen.framework in reading.KERAS
        rate = f" at the learning rate {facts.learning_rate:g}" if facts.learning_rate is not None else ""
        digits = _DIGITS.get(facts.dtype, 8)
        said = (f"are lost in rounding: {facts.still:.0%} of the numbers that a step would change stay exactly as they are"
                if not facts.nothing else "come out as zero: it computes them in that type as well")
        return Finding(
            message=f"The weights are kept in {facts.dtype}, and {facts.kind}'s steps{rate} {said}.",
            remedy=("Keep the weights in float32 and compute in half precision: `keras.mixed_precision.set_global_policy("
                    f"\"mixed_{facts.dtype}\")`." if keras else
                    "Keep the weights in float32 and compute in half precision: leave `.half()`, `.bfloat16()` and `dtype=` away, and run "
                    "the forward pass under `torch.autocast` (with the Trainer: load with `dtype=torch.float32` and set `bf16=True`)."),
            site=reading.place(seen, "halved", "optimizer", "compile", "step"),
            evidence=[*_asked(seen, facts, digits),
                      (f"{facts.dtype} has {digits} significant binary digits: a change below 1/{2 ** (digits + 1)} to 1/{2 ** digits} "
                       "of a weight's size is rounded to nothing"),
                      *reading.own_losses(seen)])


def _asked(seen: Observation, facts: RoundedFacts, digits: int) -> list[str]:
    beta = seen.optimizer.second_momentum if seen.optimizer is not None else None
    if facts.nothing:
        is_one = beta is not None and 1 - beta < 2.0 ** -(digits + 1)
        return ["no weight has moved, although there are gradients",
                *([f"beta_2 = {beta:g} is 1 in {facts.dtype}: what Adam corrects its step by, the root of 1 - beta_2 ** t, is 0"]
                  if is_one else [])]
    beside = "beside what the optimizer asks for" if seen.framework in reading.KERAS else "beside the same step in float32"
    return [f"what is missing in the weights after a step: {facts.lost:.0%} of the step, by its norm ({beside})"]
