"""Losses of pairs and triplets that push apart what belongs together."""

from __future__ import annotations

import math
from statistics import mean
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_PAIRS, _LAST = 16, 8  # pairs of each kind; steps
_REVERSED, _UNDECIDED, _LEARNT = 0.35, 0.5, 0.55
_SURE = 4.0  # deviations of a share that pairs without any order would have


class PushedApart(Check):
    """Pairs that belong together are pushed apart, and others are pulled together.

    A contrastive loss whose labels mean the opposite (1 for "different" in the paper, 1 for "same" in the data), or a triplet whose
    positive and negative have changed places. No embedding can do what is asked of it: rows of one kind farther apart than rows of two.
    Sources: Hadsell, Chopra, LeCun, "Dimensionality Reduction by Learning an Invariant Mapping" (2006), where Y = 0 stands for similar
    pairs; Schroff et al., "FaceNet" (2015).
    """

    code: ClassVar[str] = "L228"
    stage: ClassVar[Stage] = "loss"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from how far apart the inputs of pairs are that the loss pulls together, beside those that it pushes apart; and from
        embeddings, which come no nearer to what is asked."""
        facts = seen.pulled
        if facts is None:
            raise NotJudged("no loss of pairs of embeddings was seen")
        if min(facts.pulled, facts.pushed) < _PAIRS:
            return None
        shares = [mean(measure) for measure in zip(*facts.early, strict=False)]
        chance = _SURE * math.sqrt((1 / facts.pulled + 1 / facts.pushed) / 12)
        if min(shares) > min(_REVERSED, 0.5 - chance) or max(shares) > _UNDECIDED or not facts.late or mean(facts.late[-_LAST:]) > _LEARNT:
            return None
        return Finding(
            message=f"The loss pushes apart what is alike: of a pair that it pulls together and one that it pushes apart, the second is "
                    f"the more alike in {1 - min(shares):.0%} of cases.",
            remedy="Look at which way round the labels are: with 1 for pairs that belong together, `y * d**2 + (1 - y) * "
                   "relu(margin - d)**2`; of triplets, `relu(d(anchor, positive) - d(anchor, negative) + margin)`.",
            site=reading.place(seen, "loss") or facts.site,
            evidence=[f"pairs of the first steps: {facts.pulled} pulled together, {facts.pushed} pushed apart",
                      f"later on, the embeddings of a pair that is pushed apart are the farther ones in {mean(facts.late[-_LAST:]):.0%}",
                      *reading.own_losses(seen)])
