"""Metric objects of Keras that a loop updates in evaluation after evaluation, and never sets back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import RunningFacts
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_MOST = 16


@dataclass
class _Asked:
    """A metric when it was asked last: `count` and `total` then, its count at the last training step, and how often it ran on."""

    metric: Any
    count: float
    total: float
    at_step: float | None = None
    ran_on: int = 0


class Running:
    """Wraps `result` and `reset_state` of metrics that are means. A graph may update them: what they count is read between the steps."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._known: dict[int, _Asked] = {}

    def attach(self, keras: Any) -> None:
        """Hook the means of `keras` or `tf_keras`."""
        for name, told in (("result", self._result), ("reset_state", self._reset)):
            owner = next(cls for cls in keras.metrics.Mean.__mro__ if name in vars(cls))
            self._watch.session.patches.replace(owner, name, self._wrap(told))

    def _wrap(self, told: Any) -> Any:
        def wrap(original: Any) -> Any:
            def called(metric: Any, *args: Any, **kwargs: Any) -> Any:
                if self._watch.session.active and self._watch.seen.running_on is None and hasattr(metric, "count"):
                    self._watch.session.safely("a metric", told, metric)
                return original(metric, *args, **kwargs)

            return called

        return wrap

    def stepped(self) -> None:
        """A training step of a loop is over."""
        for known in self._known.values():
            known.at_step = self._number(known.metric.count)

    def _reset(self, metric: Any) -> None:
        self._known.pop(id(metric), None)

    def _result(self, metric: Any) -> None:
        count, total = self._number(metric.count), self._number(metric.total)
        if count is None or total is None or self._watch.fits.running:
            return
        known = self._known.get(id(metric))
        if known is None or count < known.count or (known.at_step is not None and known.at_step != known.count):
            if len(self._known) < _MOST:  # what a training step updates may be a mean over all of it
                self._known[id(metric)] = _Asked(metric, count, total)
            return
        if known.at_step is None or count == known.count:
            return
        known.ran_on += 1
        if known.ran_on > 1:
            place: Place | None = self._watch.session.sites.place()
            self._watch.seen.running_on = RunningFacts(names=[str(metric.name)], passes=known.ran_on + 1, told=total / count,
                                                       alone=(total - known.total) / (count - known.count), site=site(place))
        known.count, known.total, known.at_step = count, total, None

    @staticmethod
    def _number(value: Any) -> float | None:
        """None inside a graph."""
        return float(numpy_of(value)) if hasattr(value, "numpy") and not _symbolic(value) else None


def _symbolic(value: Any) -> bool:
    import tensorflow as tf

    return not tf.executing_eagerly()
