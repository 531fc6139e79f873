"""Moving statistics of a Keras model that are those of its last batch: what it answers with the mean of all batches' instead."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.frameworks.watch.keras_model import flat_layers
from harness.frameworks.watch.keras_trace import numpy_of, patched
from harness.frameworks.watch.norms import NEWEST, Hasty


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
    layers = [layer for layer in flat_layers(model) if getattr(layer, "moving_mean", None) is not None
              and isinstance(getattr(layer, "momentum", None), float) and 1 - layer.momentum >= NEWEST and layer.trainable]
    if not layers:
        return None

    @contextlib.contextmanager
    def after(chosen: Sequence[int]) -> Iterator[None]:
        momenta = [layer.momentum for layer in layers]
        kept = [(variable, np.array(numpy_of(variable))) for layer in layers for variable in (layer.moving_mean, layer.moving_variance)]
        try:
            for number, which in enumerate(chosen):
                for layer in layers:
                    layer.momentum = number / (number + 1)
                passes[which]()
            yield
        finally:
            for layer, momentum in zip(layers, momenta, strict=True):
                layer.momentum = momentum
            for variable, value in kept:
                variable.assign(value)

    first = layers[0]
    return Hasty(type(first).__name__, 1 - float(first.momentum), after, built(first))
