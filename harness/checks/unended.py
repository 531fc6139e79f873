"""Values of states that are learnt as if no episode ended."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.loss_facts import EndingFacts
from harness.checks.observation import Observation

_STEPS = 2


class Unended(Check):
    """A value is learnt from what comes next although the episode has ended.

    After the last step of an episode nothing comes: its value is the reward alone. Where the target adds the value of a next state all the
    same, falling down costs nothing, since the value goes on as if one were still standing.
    Sources: Mnih et al. 2015, "Human-level control through deep reinforcement learning" (algorithm 1: y = r where the episode ends);
    Sutton, Barto, Reinforcement Learning (2018), 3.4.
    """

    code: ClassVar[str] = "L219"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from marks of 0 and 1 that come with each reward, some of them 1, which nothing reads where the target is made; and from
        discounted sums of rewards that hold those of the next episode."""
        facts = seen.ending
        if not seen.steps:
            raise NotJudged("no step was seen")
        if "time_limit" in seen.sites and reading.place(seen, "time_limit") is not None:
            return Finding(
                message="What is kept as the end of an episode is where its time ran out. Where it ends by itself, in a fall or at the "
                        "goal, nothing says so, and the target of the value adds what comes next although nothing does.",
                remedy="Keep the other mark that `step` gives, `terminated`; where the time ran out, the next state's value does count.",
                site=seen.sites["time_limit"], evidence=["the other mark is handed on to nothing", *reading.own_losses(seen)])
        if facts is not None and facts.sums:
            return self._sums(seen, facts)
        if facts is None or facts.steps < _STEPS or not facts.marked:
            return None
        keras = seen.framework in reading.KERAS
        mark = f"tf.cast({facts.name}, tf.float32)" if keras else f"{facts.name}.float()"
        return Finding(
            message=f"`{facts.name}` comes with each reward and says where an episode ends, and nothing reads it: the target of the value "
                    "adds what comes next although nothing does.",
            remedy=f"Leave the later value out where it ends: `{facts.reward} + gamma * (1 - {mark}) * later`.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[f"`{facts.name}` is 1 for {facts.marked} of {facts.rows * facts.steps} rows, and 0 for the others",
                      *reading.own_losses(seen)])

    @staticmethod
    def _sums(seen: Observation, facts: EndingFacts) -> Finding:
        """Returns that go on over the ends of episodes."""
        mark, reward = facts.name.rpartition(".")[2], facts.reward.rpartition(".")[2]
        return Finding(
            message=f"The returns run over the ends of episodes: where `{facts.name}` says that one has ended, the sum of its rewards goes "
                    "on with those of the next.",
            remedy=f"Begin the sum anew where an episode ends: `g = {reward}[t] + gamma * g * (1 - {mark}[t])`.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[(f"{facts.marked} ends among {facts.rows * facts.steps} steps; there as elsewhere a return is its reward and the "
                       "next one, discounted"), *reading.own_losses(seen)])
