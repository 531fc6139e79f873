"""What an `evaluate` metric is really given: class ids of predictions and references, whichever framework made them."""

from __future__ import annotations

from typing import Any

import wrapt

from harness.frameworks.events import Emit


class MetricObserver:
    """Emits `evaluation` {labels, predicted} for every metric that is computed from class ids."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def attach(self, evaluate: Any) -> None:
        """Hook the `evaluate` package. Called when the script has imported it."""
        wrapt.wrap_function_wrapper(evaluate.EvaluationModule, "__init__", self._made)

    def _made(self, wrapped: Any, instance: Any, args: Any, kwargs: Any) -> None:
        wrapped(*args, **kwargs)
        # Every module makes a copy of its class's `compute`, from the code object: a wrapper on the class would not be in it.
        wrapt.wrap_function_wrapper(instance, "compute", self._compute)

    def _compute(self, wrapped: Any, _instance: Any, args: Any, kwargs: Any) -> Any:
        result = wrapped(*args, **kwargs)
        predicted, labels = _ids(kwargs.get("predictions")), _ids(kwargs.get("references"))
        if predicted and labels and len(predicted) == len(labels):
            self._emit("evaluation", source="metric", labels=labels, predicted=predicted)
        return result


def _ids(values: Any) -> list[int] | None:
    import numpy

    if values is None:
        return None
    array = numpy.asarray(values)
    return array.tolist() if array.ndim == 1 and array.dtype.kind in "iu" else None
