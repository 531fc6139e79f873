"""Models that answer beside the step of another, such as teachers, and whether they do so in training mode: asked of a Keras step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import TeacherFacts
from harness.frameworks.watch.keras_model import flat_layers
from harness.frameworks.watch.keras_trace import flat, numpy_of, patched
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_backend import KerasBackend, Step

_DRAWS = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "AlphaDropout", "GaussianDropout", "GaussianNoise")
_APART = 0.1  # of the size of an answer


def candidates(model: Any) -> list[Any]:
    """Models inside of another that have weights and train none of them, and layers that draw."""
    inner = [layer for layer in model._flatten_layers() if layer is not model and hasattr(layer, "layers")]
    return [part for part in inner if part.weights and not part.trainable_weights
            and any(type(layer).__name__ in _DRAWS for layer in flat_layers(part))]


def measure(keras: Any, backend: KerasBackend, model: Any, step: Step, place: Callable[[], Place | None]) -> TeacherFacts | None:
    """Of the first such model that answers otherwise in the script's own step than in inference mode, and whose answers no layer that is
    trained is given."""
    import tensorflow as tf

    known = candidates(model)
    asked: list[tuple[Any, Any, Any, Place | None]] = []  # model, answer, answer in inference mode, where
    made: list[Any] = []
    inside: list[Any] = []

    def enter(original: Any) -> Any:
        def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if inside or not any(layer is one for one in known):
                output = original(layer, *args, **kwargs)
                if not inside and not hasattr(layer, "layers") and getattr(layer, "trainable_weights", None):
                    made.extend(part for part in flat(output) if tf.is_tensor(part))
                return output
            inside.append(layer)
            try:
                output = original(layer, *args, **kwargs)
                still = original(layer, *args, **(kwargs | {"training": False}))
            finally:
                inside.pop()
            if tf.is_tensor(output):
                tape.watch(output)
                asked.append((layer, output, still, place()))
            return output

        return wrapped

    if not known:
        return None
    with tf.GradientTape(persistent=True) as tape, patched(keras.layers.Layer, "__call__", enter), patched(keras.Model, "__call__", enter):
        backend.predictions(step.data, evaluating=False)
    for layer, output, still, where in asked:
        if any(tape.gradient(part, output) is not None for part in made if part.dtype.is_floating):
            continue  # what it gives is what others learn from
        given, told = (np.asarray(numpy_of(part), np.float64).reshape(len(output), -1) for part in (output, still))
        apart = np.linalg.norm(given - told, axis=1) > _APART * np.linalg.norm(told, axis=1)
        changed = given.argmax(1) != told.argmax(1) if given.shape[1] > 1 else apart
        if apart.any():
            kinds = sorted({type(part).__name__ for part in flat_layers(layer) if type(part).__name__ in _DRAWS})
            return TeacherFacts(kind=type(layer).__name__, rows=len(given), apart=int(apart.sum()), changed=int(changed.sum()),
                                layers=kinds, site=site(where))
    return None
