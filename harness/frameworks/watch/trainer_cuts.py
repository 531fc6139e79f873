"""Where the `compute_metrics` of a Trainer cuts raw scores: asked again with scores that only a cut at one half tells apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.checks.metric_facts import DecisionFacts
from harness.frameworks.watch.torch_evaluation import numbers

_HALF, _FAR, _LEAST = 0.5, 5.0, 3


def at_half(ask: Callable[[Any, Any], Any], given: Any, labels: Any) -> DecisionFacts | None:
    """A decision by one half, where one of the figures that `ask` gives is the same with the scores between 0 and one half far below and
    all others far off, and another with those far above; None where none is. `given`: what the metric gets, float[rows, labels], or a tuple
    that begins with it, beside `labels` of that shape."""
    scores = given[0] if isinstance(given, tuple) and given else given
    shapes = getattr(labels, "shape", None), getattr(scores, "shape", ())
    if shapes[0] != shapes[1] or not set(np.unique(labels)) <= {0, 1}:
        return None
    if scores.dtype.kind != "f" or not scores.size or (scores.min() >= 0 and scores.max() <= 1):
        return None
    between = (scores > 0) & (scores <= _HALF)
    if between.sum() < _LEAST:
        return None
    tried = [scores, np.where(between, -_FAR, scores), np.where(scores > _HALF, _FAR, -_FAR), np.where(between, _FAR, scores)]

    def figures(made: Any) -> dict[str, float]:
        made = made.astype(scores.dtype)
        values = ask((made, *given[1:]) if isinstance(given, tuple) else made, labels)
        return numbers(values) if isinstance(values, dict) else {}

    own, below, cut, above = map(figures, tried)
    if not any(own[name] == below.get(name) == cut.get(name) != above.get(name) for name in own):
        return None
    return DecisionFacts(how="compare", threshold=_HALF, values=int(scores.size), minimum=float(scores.min()), maximum=float(scores.max()),
                         lost=int(between.sum()))
