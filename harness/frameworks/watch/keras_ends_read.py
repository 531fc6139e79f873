"""What answers of a Keras model owe to the filler at the ends of rows."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from harness.checks.probe_facts import EndsReadFacts
from harness.frameworks.watch import ends_read, neighbours
from harness.frameworks.watch.keras_changes import inputs_of, with_inputs
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_backend import KerasBackend, Step


def measure(backend: KerasBackend, steps: list[Step]) -> EndsReadFacts | None:
    """Facts of the first step whose rows end in filler, in evaluation mode."""
    return next((found for step in steps if (found := _of_step(backend, step)) is not None), None)


def _of_step(backend: KerasBackend, step: Step) -> EndsReadFacts | None:
    import tensorflow as tf

    inputs = step.data[0] if isinstance(step.data, tuple) else step.data
    if isinstance(inputs, dict) and "attention_mask" in inputs:
        return None  # masks are looked at for themselves, and such a model takes its time
    given = [part for part in inputs_of(step.data) if neighbours.in_steps(part.shape, floats=part.dtype.is_floating)]
    if not given:
        return None
    shape = tuple(given[0].shape[:2])
    wanted = step.data[1] if isinstance(step.data, tuple) and len(step.data) > 1 else None
    if any(tuple(part.shape[:2]) == shape for part in tf.nest.flatten(wanted) if tf.is_tensor(part)):
        return None  # each step of a row has a target of its own

    def answers(width: int) -> Any:
        def cut(part: Any) -> Any:
            return part[:, :width] if tuple(part.shape[:2]) == shape else part

        # Layers of one length take no less.
        with contextlib.suppress(Exception):
            return backend.predictions(with_inputs(step.data, cut))
        return None

    return ends_read.measure(numpy_of(given[0]), answers)
