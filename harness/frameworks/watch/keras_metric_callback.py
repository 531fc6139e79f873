"""The metric of a `KerasMetricCallback`: what it is given at the end of an epoch, and what it says of other things."""

from __future__ import annotations

import functools
from typing import Any

from harness.checks.metric_facts import MetricFacts
from harness.checks.observation import Observation
from harness.frameworks.watch.metrics_asked import AskedMetrics
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.torch_evaluation import numbers


def attach(session: WatchSession, seen: Observation) -> None:
    """Wraps the end of an epoch, for which the callback gets another function than the script's own."""
    asked = AskedMetrics(session, seen)

    def wrap(original: Any) -> Any:
        def on_epoch_end(callback: Any, *args: Any, **kwargs: Any) -> Any:
            mine = getattr(callback, "metric_fn", None)
            if not session.active or not callable(mine):
                return original(callback, *args, **kwargs)
            callback.metric_fn = _recorded(session, seen, asked, mine)
            try:
                return original(callback, *args, **kwargs)
            finally:
                callback.metric_fn = mine

        return on_epoch_end

    session.when_imported("transformers.keras_callbacks",
                          lambda module: session.patches.replace(module.KerasMetricCallback, "on_epoch_end", wrap))


def _recorded(session: WatchSession, seen: Observation, asked: AskedMetrics, mine: Any) -> Any:
    @functools.wraps(mine)
    def metric_fn(prediction: Any) -> Any:
        values = mine(prediction)
        if session.active and isinstance(values, dict) and isinstance(prediction, tuple):
            facts = MetricFacts(name="metric_fn", values=numbers(values), site=session.sites.here())
            seen.evaluation.metrics.append(facts)
            asked.answered(facts, mine, prediction)
        return values

    return metric_fn
