"""Actions that are credited with what came before them."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class Credit(Check):
    """An action is credited with the rewards that came before it: the returns are summed up from the front of an episode.

    The return of a step is its reward and what comes after, so that it is summed up from the end. From the front, the first action gets its
    own reward alone, however much it led to, and the last one gets everything that it had no part in.
    Source: Sutton, Barto, Reinforcement Learning (2018), 3.3 and 13.3.
    """

    code: ClassVar[str] = "L226"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from a loop over rewards, from the first to the last, that keeps a discounted sum at each step."""
        if not seen.steps:
            raise NotJudged("no step was seen")
        found = seen.credit
        if found is None:
            return None
        return Finding(
            message=f"The returns are summed up from the front of `{found.rewards}`: each action is credited with the rewards before it, "
                    "and not with those it led to.",
            remedy=f"Sum up from the end, and put each sum in front: `for r in reversed({found.rewards}): g = r + gamma * g; "
                   "returns.insert(0, g)`.",
            site=found.site or reading.place(seen, "loss", "backward"), evidence=reading.own_losses(seen))
