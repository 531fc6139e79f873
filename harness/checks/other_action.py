"""Policies that learn by the probability of another action than the one that was carried out."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class OtherAction(Check):
    """The log-probability is of another action than the one that was taken: it is drawn anew in the update.

    What an action was worth makes that action likelier, or rarer. Where the update draws once more and asks for the probability of this
    draw, the worth is of one action and the gradient of another: on average it is nothing at all.
    Source: Williams 1992, "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning" (the eligibility is
    of the action that was taken).
    """

    code: ClassVar[str] = "L232"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges a loss that is made of the log-probabilities of actions and of what these were worth, by the text: the draw that is asked
        about stands in the call, or has a name that is read nowhere else in its function."""
        if seen.policy is None:
            raise NotJudged("no loss was seen that is made of the log-probabilities of actions")
        place = reading.place(seen, "other_action")
        if place is None:
            return None
        return Finding(
            message=f"The action that is asked about here is drawn here and goes nowhere else: `{seen.policy.name}` tells what another one "
                    "was worth, the one that was carried out.",
            remedy="Keep the actions with the states and rewards, and ask for these: `log_prob = policy(states).log_prob(actions)`.",
            site=place, evidence=reading.own_losses(seen))
