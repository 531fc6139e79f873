"""Averages of a Keras model's weights that answer in its place."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import averages
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher


class Averages(averages.Averages):
    """Told of what `evaluate`, `predict` and the loops of a script ask."""

    def __init__(self, watch: KerasWatcher) -> None:
        super().__init__(_weights, _some)
        self._watch = watch

    def ran(self, model: Any) -> None:
        """A model is asked, and no gradients are recorded."""
        self._watch.session.safely("weights on their way", self.asked, model, self._watch.session.sites.place)

    def finish(self) -> None:
        """The training is over, or is not watched any longer."""
        session, seen = self._watch.session, self._watch.seen
        cut = session.stopping is not None or seen.truncated_at is not None
        planned = (seen.optimizer.planned_steps or seen.optimizer.training_steps) if seen.optimizer is not None else None
        seen.evaluation.average = self.facts(session.script, cut=cut, planned=planned, whole=seen.truncated_at)


def _weights(model: Any) -> list[Any]:
    with contextlib.suppress(ValueError):  # of a model that has not been built
        return list(model.trainable_variables)
    return []


def _some(weight: Any, most: int) -> averages.Array | None:
    if not sys.modules["tensorflow"].executing_eagerly():
        return None  # a function is being traced: its weights have no values
    flat = np.asarray(numpy_of(weight)).reshape(-1)
    picked: averages.Array = flat[::max(1, len(flat) // most)][:most].copy()
    return picked
