"""Two optimizers that move the same weights, each against the other."""

from __future__ import annotations

import statistics

from harness.checks import reading
from harness.checks.base import Finding
from harness.checks.observation import Observation

_CALLS, _AGAINST, _MOSTLY = 6, -0.2, 0.8


def finding(seen: Observation) -> Finding | None:
    """Judges from the gradients of the weights that both hold: what is trained against another model pulls them back each time."""
    facts = seen.opposed
    if facts is None or len(facts.cosines) < _CALLS:
        return None
    middle = statistics.median(facts.cosines)
    if middle > _AGAINST or sum(cosine < 0 for cosine in facts.cosines) < _MOSTLY * len(facts.cosines):
        return None
    keras = seen.framework in reading.KERAS
    own = "`tape.gradient(g_loss, generator.trainable_variables)`, and apply these" if keras else "`Adam(generator.parameters(), ...)`"
    evidence = [(f"cosine between both gradients of these weights: {middle:.2f} in the middle of {len(facts.cosines)} pairs of steps, "
                 f"below zero in {sum(cosine < 0 for cosine in facts.cosines)}")]
    if facts.alone:
        return Finding(
            message=f"One optimizer steps for two losses in turn, and moves {facts.weights} weights one way for the one and back for the "
                    f"other, which reaches {facts.held}: a critic that the generator's steps train as well learns to be fooled.",
            remedy=f"Give each model an optimizer of its own, and each loss only the weights of the model that it trains: {own}.",
            site=facts.site or reading.place(seen, "optimizer", "step"), evidence=evidence)
    return Finding(
        message=f"Two optimizers move the same {facts.weights} weights against each other: one holds nothing else, the other has them "
                f"among its {facts.held}, and undoes what the first one does. A critic that the generator's steps train as well learns to "
                "be fooled.",
        remedy=f"Give each optimizer the weights of its own model only: {own}.",
        site=facts.site or reading.place(seen, "optimizer", "step"),
        evidence=evidence)
