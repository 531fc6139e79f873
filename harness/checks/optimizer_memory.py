"""What an optimizer keeps of earlier gradients."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.model_facts import OptimizerFacts
from harness.checks.observation import Observation

_REMADE = 8  # steps


class MemoryOfGradients(Check):
    """The optimizer keeps of earlier gradients what makes its steps diverge, or nothing at all.

    Adam divides a mean of gradients by the root of a mean of their squares. Where the first reaches further back than the second, old
    gradients are divided by the size of new ones, and a step may be of any length: its authors ask for beta_1 squared to be less than the
    root of beta_2. Momentum of 1 and more adds up all gradients for ever. An optimizer that is made anew for every step has none of them:
    Adam's first step is the sign of the gradient times the rate, however small the gradient.
    Sources: Kingma, Ba, Adam (2015), theorem 4.1; Sutskever et al., On the importance of initialization and momentum (2013).
    """

    code: ClassVar[str] = "S409"
    stage: ClassVar[Stage] = "step"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the optimizer's own numbers, by the condition under which its steps are known to stay small; and from who
        takes the steps."""
        optimizer = seen.optimizer
        if optimizer is not None and optimizer.remade >= _REMADE and (optimizer.momentum or optimizer.kind.lower() != "sgd"):
            return self._remade(seen, optimizer)
        if optimizer is None or optimizer.momentum is None:
            raise NotJudged("no optimizer with momentum was seen")
        first, second = optimizer.momentum, optimizer.second_momentum
        site = optimizer.site or reading.place(seen, "optimizer", "compile", "step", "fit")
        if second is None:
            return None if first < 1 else Finding(
                message=f"With a momentum of {first:g} no gradient is ever forgotten: each step is the sum of all gradients so far.",
                remedy="`momentum=0.9`; each step then goes by the last ten gradients or so.", site=site, evidence=reading.own_losses(seen))
        if "adam" not in optimizer.kind.lower():
            raise NotJudged(f"what {optimizer.kind} makes of its two means has a condition of its own")
        if not 0 <= second < 1 or not 0 <= first < 1 or first * first < math.sqrt(second):
            return None
        return Finding(
            message=f"{optimizer.kind} keeps {first:g} of its mean of gradients and {second:g} of the mean of their squares: "
                    f"{_reach(first)} steps of gradients are divided by the size of the last {_reach(second)}, and steps can be of any "
                    "length.",
            remedy=_remedy(optimizer, seen), site=site,
            evidence=[f"beta_1 squared is {first * first:.3g} and has to be less than the root of beta_2, {math.sqrt(second):.3g}.",
                      *reading.own_losses(seen)])


    @staticmethod
    def _remade(seen: Observation, optimizer: OptimizerFacts) -> Finding:
        keras = seen.framework in reading.KERAS
        return Finding(
            message=f"Each of {optimizer.remade} steps is taken by an {optimizer.kind} of its own, made anew: nothing of earlier gradients "
                    "is kept, and every step is a first one.",
            remedy="Make the optimizer once, before the loop: "
                   + (f"`optimizer = keras.optimizers.{optimizer.kind}(...)`." if keras else
                      f"`optimizer = torch.optim.{optimizer.kind}(model.parameters(), ...)`."),
            site=optimizer.site or reading.place(seen, "optimizer", "step"), evidence=reading.own_losses(seen))


def _reach(kept: float) -> str:
    return f"{1 / (1 - kept):.0f}"


def _remedy(optimizer: OptimizerFacts, seen: Observation) -> str:
    usual = "beta_1=0.9, beta_2=0.999" if seen.framework in reading.KERAS else "betas=(0.9, 0.999)"
    swapped = (optimizer.second_momentum or 0.0) < (optimizer.momentum or 0.0)
    return f"`{optimizer.kind}(..., {usual})`" + (": the first number is the smaller one." if swapped else ".")
