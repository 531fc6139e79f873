"""Draws of a variational autoencoder from another distribution than the one that its divergence is of."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class OtherSpread(Check):
    """A latent draw has another spread than the divergence is told: the logarithm of a variance is taken for a deviation.

    Where a model gives the logarithm of the variance, the deviation is `exp(0.5 * log_var)`. Drawn with `exp(log_var)` or with `log_var`
    itself, the code's noise is another one than that which the divergence keeps near 1, and what the decoder has learnt is not what it gets
    from draws of the prior.
    Source: Kingma, Welling 2014, "Auto-Encoding Variational Bayes", appendix B and C.2.
    """

    code: ClassVar[str] = "F115"
    stage: ClassVar[Stage] = "forward"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the operations of one step: the exponent of the spread, and that of the variance in the divergence."""
        found = seen.spread
        if not seen.steps:
            raise NotJudged("no step was seen")
        if found is None:
            return None
        value = "x" if abs(found.told - 1) < 1e-3 else f"{found.told:g} * x"
        drawn = "`x` itself" if found.drawn is None else f"`exp({found.drawn:g} * x)`" if abs(found.drawn - 1) > 1e-3 else "`exp(x)`"
        right = f"exp({found.told / 2:g} * x)"
        return Finding(
            message=f"The noise of a draw is multiplied by {drawn}, where the loss's divergence takes `exp({value})` for the variance: the "
                    f"deviation that belongs to it is `{right}`.",
            remedy=f"Draw with the deviation, `z = mean + {right} * noise`, where x is what the encoder gives beside the mean (the "
                   "logarithm of the variance); or tell the divergence what x is.",
            site=found.site or reading.place(seen, "forward"), evidence=reading.own_losses(seen))
