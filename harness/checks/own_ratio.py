"""Ratios of a policy's probabilities that are of the policy to itself."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_STEPS = 3


class OwnRatio(Check):
    """The ratio of two policies is of one policy to itself: it is 1, and its derivative is 0.

    The probability of an action is divided by that of the policy that took it, which is a number of the time when it acted. Where both are
    asked of the weights of now, and both with their gradient, one derivative takes the other away: nothing is learnt from what the actions
    were worth, whatever the loss looks like.
    Source: Schulman et al. 2017, "Proximal Policy Optimization Algorithms", equation 6 (the denominator is the policy before the update).
    """

    code: ClassVar[str] = "L231"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from quotients, and exponentials of differences, float[actions], that are 1 at every place in each of the steps that were
        looked at, of two sides that both have a graph."""
        facts = seen.own_ratio
        if not seen.steps:
            raise NotJudged("no step was seen")
        if facts is None or facts.steps < _STEPS:
            return None
        return Finding(
            message=f"This ratio is of one thing to itself: all its {facts.values} values are 1 in every step. Both sides have a gradient, "
                    "and one takes the other away: nothing is learnt through it.",
            remedy="Take the second side as a number, of the weights that acted: keep the log-probabilities of the rollout (under "
                   "`torch.no_grad()`) for all its updates, or at the least `torch.exp(log_prob - old_log_prob.detach())`.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[f"looked at in the first {facts.steps} steps; in none of them was one of the values another than 1"])
