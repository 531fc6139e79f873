"""Moving statistics of a Keras model that are those of its last batch, or still its first ones: what it answers with the mean of all
batches' instead."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.frameworks.watch.keras_model import flat_layers
from harness.frameworks.watch.keras_trace import numpy_of, patched
from harness.frameworks.watch.norms import LEFT, NEWEST, Hasty, Slow, shares


def training(keras: Any, forward: Callable[[], Any], place: Callable[[], Any]) -> Any:
    """Where batch normalisation is told to train in a `forward` pass in inference mode; None where it is not."""
    found: list[Any] = []

    def look(original: Any) -> Any:
        signature = inspect.signature(original)

        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if signature.bind(layer, *args, **kwargs).arguments.get("training") is True and layer.trainable:
                found.append(place())
            return original(layer, *args, **kwargs)

        return call

    with patched(keras.layers.BatchNormalization, "call", look):
        forward()
    return next((where for where in found if where is not None), None)


def hasty(model: Any, passes: Sequence[Callable[[], Any]], built: Callable[[Any], Any]) -> Hasty | None:
    """Layers in which a new batch outweighs all before it; `passes`: forward passes in training mode of the batches that were seen."""
    layers = [layer for layer in _layers(model) if 1 - layer.momentum >= NEWEST]
    if not layers:
        return None
    first = layers[0]
    return Hasty(type(first).__name__, 1 - float(first.momentum), functools.partial(_after, layers, passes), built(first))


def slow(model: Any, passes: Sequence[Callable[[], Any]], built: Callable[[Any], Any], taken: int, steps: int) -> Slow | None:
    """Layers of which much is left that they began with when all `steps` are taken, of which so many were."""
    layers = [layer for layer in _layers(model) if shares(1 - layer.momentum, taken, steps)[0] >= LEFT]
    if not layers:
        return None
    first = layers[0]
    part = 1 - float(first.momentum)
    return Slow(type(first).__name__, part, *shares(part, taken, steps), steps, functools.partial(_after, layers, passes), built(first))


def _layers(model: Any) -> list[Any]:
    return [layer for layer in flat_layers(model) if getattr(layer, "moving_mean", None) is not None
            and isinstance(getattr(layer, "momentum", None), float) and layer.trainable]


@contextlib.contextmanager
def _after(layers: list[Any], passes: Sequence[Callable[[], Any]], chosen: Sequence[int], share: float = 0.0) -> Iterator[None]:
    """While inside, the layers' statistics are the mean over these passes, and to `share` what they are now."""
    momenta = [layer.momentum for layer in layers]
    kept = [(variable, np.array(numpy_of(variable))) for layer in layers for variable in (layer.moving_mean, layer.moving_variance)]
    try:
        for number, which in enumerate(chosen):
            for layer in layers:
                layer.momentum = number / (number + 1)
            passes[which]()
        for variable, value in kept if share else ():
            variable.assign(share * value + (1 - share) * np.array(numpy_of(variable)))
        yield
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        for variable, value in kept:
            variable.assign(value)
