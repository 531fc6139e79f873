"""An average of a model's weights that has not come up to the model."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_MOSTLY = 0.5
_MUCH = 0.3  # where the model itself answers otherwise
_SOME = 0.05  # of the rows


class LaggingAverage(Check):
    """An average of the weights lags behind the model: what is evaluated is mostly what it was begun from.

    An exponential average with decay d has forgotten its beginning after some 3 / (1 - d) updates; before, d to the power of the updates
    of it are left. Judged by the decay that fits the weights themselves, and by asking the model in its place.
    Source: TensorFlow docs, `tf.train.ExponentialMovingAverage` (`num_updates`); Kingma and Ba 2015: Adam, section 3 (initialization bias).
    """

    code: ClassVar[str] = "E528"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the weights of an average that was asked in evaluation, and from those of the model on its way."""
        facts = seen.evaluation.average
        if facts is None or facts.left < (_MUCH if facts.changed is not None else _MOSTLY):
            return None
        if facts.changed is not None and facts.changed < _SOME * facts.rows:
            return None
        updates = max(facts.updates, facts.planned or 0)
        otherwise = f" The model itself answers {facts.changed} of {facts.rows} rows otherwise." if facts.changed else ""
        asked = [f"it is asked at line {facts.asked.line}: `{facts.asked.source}`"] if facts.asked is not None else []
        fitting = 1 - 5 / max(updates, 10)
        return Finding(
            message=f"What is evaluated is an average of the weights of {facts.kind} with a decay of {facts.decay:.6g}: after {updates} "
                    f"updates {facts.left:.0%} of it is still {facts.begun}.{otherwise}",
            remedy=f"Take a decay that forgets within this training, such as {fitting:.3g} for its {updates} updates, or let it grow with "
                   "them: `min(decay, (1 + updates) / (10 + updates))`; begun from zeros, divide by `1 - decay ** updates`.",
            site=facts.site or facts.asked,
            evidence=[*asked, f"a decay of {facts.decay:.6g} remembers the last {1 / max(1 - facts.decay, 1e-9):,.0f} updates or so"])
