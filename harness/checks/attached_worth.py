"""Policies whose loss trains the critic as well."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_LEAST, _SAME = 3, 0.95


class AttachedWorth(Check):
    """The policy's loss trains the critic: the advantage that it multiplies by has a gradient.

    An advantage is what came less what the critic expected. Multiplied by the log-probability of an action, it is to be a number; with its
    gradient the product can also grow by a critic that expects more of whatever was unlikely, and this is what it learns then.
    Source: Mnih et al. 2016, "Asynchronous Methods for Deep Reinforcement Learning", algorithm S3 (the gradient of the policy is of the
    log-probability alone); Sutton and Barto 2018, chapter 13.
    """

    code: ClassVar[str] = "L230"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L216", "L217")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the derivative of a loss by what actions were worth, float[actions]: of a critic's own loss it goes by the worth;
        what is left goes by the log-probabilities of the actions in each step that was looked at."""
        facts = seen.policy
        if facts is None:
            raise NotJudged("no loss was seen that is made of the log-probabilities of actions")
        told = [abs(cosine) for cosine in facts.attached]
        if len(told) < _LEAST or min(told) < _SAME:
            return None
        return Finding(
            message=f"`{facts.name}` goes into the policy's loss with its gradient: what actions were worth is the critic's own answer, "
                    "and each step raises that, the more so the rarer the action was.",
            remedy=f"Take it as a number there: `-(log_prob * {facts.name}.detach()).mean()`; the critic learns from its own term.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[(f"derivative of the loss by `{facts.name}`, beside the log-probabilities: cosine {statistics.fmean(told):.3f} over "
                       f"{len(told)} steps, without what goes along with `{facts.name}` itself")])
