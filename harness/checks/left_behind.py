"""Copies of a model that are meant to follow it, and do not."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class LeftBehind(Check):
    """A target network is a copy of the model that is never brought up to it.

    What it answers goes into what the model is to learn. As long as it is what it was before the first step, the model learns what follows
    from random numbers, and rewards travel one step far.
    Sources: Mnih et al., "Human-level control through deep reinforcement learning" (2015), algorithm 1; Grill et al., "Bootstrap Your Own
    Latent" (2020).
    """

    code: ClassVar[str] = "S408"
    stage: ClassVar[Stage] = "step"
    requires: ClassVar[tuple[str, ...]] = ("S404", "S405")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from a copy's weights before the first step and at the end, and from what it is asked about: other rows than the model."""
        facts = seen.behind
        if facts is None or (seen.model is not None and seen.model.pretrained):
            return None  # a copy of what was learnt before may be there to be held on to
        planned = seen.optimizer.training_steps if seen.optimizer is not None else None
        over = (seen.stopped == "finished" and seen.truncated_at is None) or not facts.due
        late = facts.every if facts.every is not None and planned is not None and facts.every > planned else None
        if not over and late is None:
            raise NotJudged("a copy of the model has not been brought up to it; the script may still come to that")
        if seen.framework in reading.KERAS:
            remedy = "After every so many steps: `target.set_weights(model.get_weights())`"
        else:
            remedy = "After every so many steps: `target.load_state_dict(model.state_dict())`"
        return Finding(
            message=f"A copy of the model ({facts.kind}) answers in every step and is never brought up to it: after {facts.steps} steps it "
                    "still has the weights that the model had before the first.",
            remedy=remedy + ", or a little of the way after each (`target = 0.995 * target + 0.005 * model`); more often than the training "
                   "has steps.",
            site=next(iter(facts.due), None) or reading.place(seen, "step") or facts.site,
            evidence=([f"it is asked at line {facts.site.line}: `{facts.site.source}`"] if facts.site is not None else [])
            + ([f"it is due every {late} steps, and the training has {planned}"] if late is not None else [])
            + [f"weights are written into a model at line {place.line}: `{place.source}`" for place in facts.due[:2]])
