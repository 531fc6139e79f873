"""Weights of rows and classes that `fit` is given, and that a `train_step` of the script's own leaves out of its loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import LossCall, UnweighedFacts
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_steps import Traced
    from harness.frameworks.watch.keras_watch import KerasWatcher

_EQUAL = 1e-4
_STEPS = 3


class Unweighed:
    """Told of the steps of `fit`."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._steps: int | None = 0

    def stepped(self, model: Any, data: Any, targets: list[float], calls: list[LossCall], traced: Traced) -> None:
        """A step is over: what went backward is the mean of its only loss, although the rows come with weights that differ, and that loss
        is given none."""
        if any(weighted for _, _, weighted, _ in traced.losses):
            self._steps = None
        if self._steps is None or len(calls) != 1 or len(targets) != 1 or not isinstance(data, tuple) or len(data) < 3:
            return
        code = getattr(type(model).train_step, "__code__", None)
        weights, value = np.ravel(np.asarray(numpy_of(data[2]), dtype=np.float64)), calls[0].value
        if code is None or not self._watch.session.sites.is_own(code.co_filename) or value is None or np.ptp(weights) <= 0:
            return
        weighted = calls[0].row_losses and len(calls[0].row_losses) == len(weights) and abs(
            float(np.mean(np.asarray(calls[0].row_losses) * weights)) - value) <= _EQUAL * abs(value)
        if abs(targets[0] - value) > _EQUAL * abs(value):
            self._steps, self._watch.seen.unweighed = None, None
        elif not weighted:
            self._steps += 1
            if self._steps >= _STEPS and self._watch.seen.unweighed is None:
                self._watch.seen.unweighed = UnweighedFacts(
                    by_class=self._watch.fits.weighted, smallest=float(weights.min()), largest=float(weights.max()),
                    site=traced.called or site((code.co_filename, code.co_firstlineno, code.co_name)))
