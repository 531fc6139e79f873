"""How the functions of a watched training are built: with one tracing where TensorFlow would take two, and for a short life."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from harness.frameworks.watch.keras_model import flat_layers


@contextlib.contextmanager
def once(model: Any) -> Iterator[None]:
    """While a function is traced inside, variables that it makes are made at once, before it: those of an optimizer and of metrics.

    A function that makes variables while it is traced is traced again without them, and of a small transformer either takes seconds. Not
    for a model whose own weights are still to come: those are drawn, in an order that is not ours to change.
    """
    if not is_complete(model):
        yield
        return
    import tensorflow as tf
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable

    known = inspect.signature(ResourceVariable.__init__).parameters

    def make(make_later: Any, **kwargs: Any) -> Any:
        if tf.distribute.has_strategy():
            return make_later(**kwargs)
        try:
            with tf.init_scope():
                at_once = {name: value for name, value in kwargs.items() if name in known}
                return ResourceVariable(**at_once) if tf.executing_eagerly() else make_later(**kwargs)
        except (TypeError, ValueError, RuntimeError):  # its first value belongs to the function
            return make_later(**kwargs)

    with tf.variable_creator_scope(make):
        yield


def is_complete(model: Any) -> bool:
    """Whether all of a model's weights are there; a layer of it that has none may still wait for its first input."""
    try:
        built = all(layer.built or _has_none(layer) for layer in flat_layers(model))
        return bool(model.built) and built and model.trainable_variables is not None
    except (ValueError, AttributeError):
        return False


def _has_none(layer: Any) -> bool:
    """Whether being built gives a layer no weights: it is what every layer does, or every layer that draws."""
    return type(layer).build.__qualname__ in ("Layer.build", "BaseRandomLayer.build") and not layer.weights


def short_lived(tf: Any) -> None:
    """Graphs are run as they were traced from now on: to make them faster takes seconds that few steps never earn."""
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


def compiled(tf: Any) -> None:
    """A step is compiled by XLA: that takes longer the more there is to compile, so graphs are optimised after all."""
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
