"""Losses that are made larger."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.loss_facts import EntropyFacts, NegatedFacts, PolicyFacts
from harness.checks.observation import Observation

_CLEARLY = 1e-3  # of a loss
_STEPS, _ALONG = 3, 0.5  # that are looked at; a cosine


class Negated(Check):
    """The sign of the loss is wrong: what should become small becomes large.

    A loss function gives a number that is small where the model is right. Where it goes backward with a minus, every step makes the model
    more wrong. `CosineSimilarity` of Keras is -1 where both are alike, so that `1 - loss` is largest there.
    Sources: Keras docs, `keras.losses.CosineSimilarity` ("a number between -1 and 1 [...] closer to -1 indicate greater similarity");
    PyTorch docs, `nn.NLLLoss` (which has its minus already).
    """

    code: ClassVar[str] = "L216"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L202", "L203", "L213")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the derivative of what goes backward by the values of loss functions, from the value of one that is written out by
        hand, and from what the loss makes of answers that are right and of others that are wrong; of a policy's loss, from what its
        derivative by the log-probabilities of actions has to do with what they were worth."""
        if seen.negated is not None:
            if reading.several_models(seen):
                raise NotJudged("several models are trained against each other, and one may want what the other does not")
            return self._turned(seen, seen.negated)
        along = seen.policy.along if seen.policy is not None else []
        if seen.policy is not None and len(along) >= _STEPS and min(along) > 0 and statistics.median(along) > _ALONG:
            return self._discouraged(seen, seen.policy)
        narrowed = seen.entropy.derivatives if seen.entropy is not None else []
        if seen.entropy is not None and seen.policy is not None and len(narrowed) >= _STEPS and min(narrowed) > 0:
            return self._narrowed(seen, seen.entropy)
        both = seen.probes.contrary
        if both is None or reading.several_models(seen):
            raise NotJudged("no loss that is known was seen with a minus before it, nor what one makes of answers that are right")
        contrary, useless = _more(both.right, both.wrong), _more(both.certain, both.silent)
        if not contrary and not useless:
            return None
        return Finding(
            message=f"The loss wants the contrary of the targets: answers a little on their side cost {both.right[0]:.3g}, and as far on "
                    f"the other side {both.wrong[0]:.3g}, which is less." if contrary else
                    f"The loss does not want what is right: answers that are right, and certain of it, cost {both.certain[0]:.3g}, and "
                    f"such as say nothing {both.silent[0]:.3g}, which is less.",
            remedy="Look at the sign of each term. What is large where the model is right, as a Dice coefficient, an overlap or a "
                   "likelihood, goes in as `1 - dice` or with a minus.",
            site=reading.place(seen, "loss", "backward"),
            evidence=[f"in each of {len(both.right)} steps", *reading.own_losses(seen)])

    @staticmethod
    def _turned(seen: Observation, facts: NegatedFacts) -> Finding:
        factor = statistics.median(facts.factors)
        name = facts.name
        cosine = "osine" in name
        return Finding(
            message=f"`{name}` goes backward with a minus ({factor:.3g} times its value): every step makes it larger, and the model more "
                    "wrong.",
            remedy="It is -1 where both sides are alike, and so to be made small as it is: `loss = cosine(y_true, y_pred)`, or `1 + ...` "
                   "to have it begin at 0." if cosine else _REMEDY,
            site=facts.site or reading.place(seen, "loss", "backward"), evidence=reading.own_losses(seen))


    @staticmethod
    def _narrowed(seen: Observation, facts: EntropyFacts) -> Finding:
        """A bonus for trying things out that has become a price on it."""
        return Finding(
            message="Each step makes the entropy of the policy smaller: it is added to the loss, "
                    f"{statistics.median(facts.derivatives):.3g} times, where the bonus for trying things out is taken off it. The policy "
                    "settles on one action before it knows which.",
            remedy="Take it off: `loss = policy_loss - 0.01 * entropy.mean()`.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[f"derivative of the loss by the entropy, in {len(facts.derivatives)} steps: "
                      + ", ".join(f"{part:.3g}" for part in facts.derivatives[:6]), *reading.own_losses(seen)])

    @staticmethod
    def _discouraged(seen: Observation, facts: PolicyFacts) -> Finding:
        return Finding(
            message=f"Each step makes actions rarer the more they were worth: the loss grows with the log-probability of an action where "
                    f"`{facts.name}` is large, and it is made small.",
            remedy=f"Put a minus before it: `loss = -(log_probs * {facts.name}).mean()`. What is to become large is made small with its "
                   "sign turned.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[f"cosine of the loss's derivative by the log-probabilities with `{facts.name}`: "
                      + ", ".join(f"{cosine:.2f}" for cosine in facts.along), *reading.own_losses(seen)])


def _more(ones: list[float], others: list[float]) -> bool:
    """Whether each loss is clearly larger than the one beside it."""
    return all(one - other > _CLEARLY * max(abs(one), abs(other)) for one, other in zip(ones, others, strict=True))


_REMEDY = ("Take the minus away. Loss functions are small where the model is right; a minus belongs before what is to become large, as a "
           "likelihood or a reward.")

