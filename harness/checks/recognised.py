"""A generator that is rewarded for being found out."""

from __future__ import annotations

import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_CALLS, _CLEAR = 4, 0.9


class Recognised(Check):
    """The generator is trained to be recognised as a fake.

    A discriminator is to raise its score for real rows and to lower it for made ones; the generator wants the opposite of the second. With
    the target of the fakes in its own loss, or a sign left out, it moves to where it is told apart best. Judged from the derivative of each
    loss by the discriminator's score. Source: Goodfellow et al. 2014, "Generative Adversarial Nets", section 3.
    """

    code: ClassVar[str] = "L220"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the first steps of both models: which way each loss moves the score."""
        facts = seen.players
        if facts is None:
            return None
        if min(map(len, (facts.real, facts.made, facts.through))) < _CALLS:
            raise NotJudged("too few steps of a generator and its discriminator were seen")
        real, made, through = map(statistics.median, (facts.real, facts.made, facts.through))
        if min(abs(real), abs(made), abs(through)) < _CLEAR or real * made > 0 or through * made < 0:
            return None
        ones = "tf.ones_like(fake_score), fake_score" if seen.framework in reading.KERAS else "fake_score, torch.ones_like(fake_score)"
        way = "lower" if made > 0 else "raise"
        return Finding(
            message=f"The generator is trained to be recognised: its loss asks the discriminator's score of what it makes to {way}, and so "
                    "does the discriminator's own. Each step makes the fakes easier to tell.",
            remedy=f"Give it the target of real rows, `bce({ones})`; of a critic without targets the opposite sign, "
                   "`g_loss = -critic(fake).mean()`.",
            site=facts.site or reading.place(seen, "loss"),
            evidence=[("rows whose score a loss asks to raise, less those that it asks to lower, as a share: in the discriminator's steps "
                       f"real {-real:+.2f} and made {-made:+.2f}, in the generator's made {-through:+.2f}")])
