"""Taking steps again: with the graph that Keras built for the script's own, or eagerly where that cannot be had.

Tracing a transformer's step takes longer than a hundred of its steps. A function that only calls the traced one costs little, and has
random operations of its own, so that the states of the script's stay what they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from harness.frameworks.watch.keras_compile import rate_of, schedule_of
from harness.frameworks.watch.keras_state import optimizers_of, variables_of_optimizer
from harness.frameworks.watch.keras_trace import KEY, numpy_of, recording


class Replaying(Protocol):
    """Takes steps on the model again."""

    def losses(self, batches: Iterable[Any], factor: float) -> Iterable[float]:
        """The loss of each step, endlessly over `batches`, by a new optimizer at its own rate times `factor`."""

    def eager(self) -> Replaying:
        """The same without what was made for it before."""


class Replay:
    """Takes training steps of `model`. `inner` is the function that Keras built, `spec` of the iterator it was called with."""

    def __init__(self, keras: Any, model: Any, train_step: Any, inner: Any, spec: Any) -> None:
        self._keras, self._model, self._train_step = keras, model, train_step
        self._inner, self._spec = inner, spec
        self._outer: Any = None
        self._originals = {name: vars(model)[name] for name in optimizers_of(model)}
        optimizer = next(iter(self._originals.values()), None)
        inside = getattr(optimizer, "inner_optimizer", optimizer)
        self._rate: Any = getattr(inside, "_learning_rate", None)
        plain = len(self._originals) == 1 and schedule_of(inside) is None and hasattr(self._rate, "assign")
        self.compiled = plain and spec is not None and inner is not None and not getattr(model, "run_eagerly", False)
        self._own_rate = rate_of(inside) if inside is not None else None
        self._fresh: list[Any] | None = None

    def eager(self) -> Replay:
        """The same without a graph."""
        if self.compiled and self._own_rate is not None:
            self._rate.assign(self._own_rate)  # which a run at another rate has left there
        return Replay(self._keras, self._model, self._train_step, None, None)

    def losses(self, batches: Iterable[Any], factor: float) -> Iterable[float]:
        """The loss of each step, endlessly over `batches`, by a new optimizer at its own rate times `factor`."""
        if self.compiled:
            try:
                self._renew(factor)
                return self._in_graph(list(batches))
            except (ValueError, TypeError, AttributeError, NotImplementedError):
                self.compiled = False
        for name, original in self._originals.items():
            vars(self._model)[name] = copied(original, factor)
        return (self._eagerly(data) for data in itertools.cycle(list(batches)))

    def _eagerly(self, data: Any) -> float:
        with recording(self._keras) as record:
            self._train_step(data)
        return sum(float(numpy_of(target)) for target in record.targets)

    def _renew(self, factor: float) -> None:
        """The optimizer's own variables as a new one has them."""
        optimizer = next(iter(self._originals.values()))
        if self._fresh is None:
            made = type(optimizer).from_config(optimizer.get_config())
            made.build(self._model.trainable_variables)
            self._fresh = [np.array(variable.numpy()) for variable in variables_of_optimizer(made)]
        held = variables_of_optimizer(optimizer)
        if [tuple(variable.shape) for variable in held] != [value.shape for value in self._fresh]:
            raise ValueError("the optimizer holds other variables than a new one")
        for variable, value in zip(held, self._fresh, strict=True):
            variable.assign(value)
        self._rate.assign((self._own_rate or 0.0) * factor)

    def _in_graph(self, batches: list[Any]) -> Iterable[float]:
        import tensorflow as tf

        inner = self._inner
        if self._keras.__name__ == "tf_keras":
            if self._outer is None:
                self._outer = tf.function(lambda iterator: inner(iterator), autograph=False, reduce_retracing=True)  # noqa: PLW0108
            spec = tf.nest.map_structure(_adapted, self._spec, _spec_of(batches[0], self._spec), expand_composites=False)
            rows = iter(tf.data.Dataset.from_generator(lambda: itertools.cycle(batches), output_signature=spec))
            call: Callable[[], Any] = lambda: self._outer(rows)  # noqa: E731
        else:
            if self._outer is None:
                self._outer = tf.function(lambda data: inner([data]), autograph=False, reduce_retracing=True)
            turns = itertools.cycle(batches)
            call = lambda: self._outer(next(turns))  # noqa: E731
        while True:
            yield sum(float(numpy_of(target)) for target in call()[KEY]["targets"])


def _spec_of(data: Any, spec: Any) -> Any:
    """The dtypes of a batch, in the structure of its spec."""
    import tensorflow as tf

    return tf.nest.map_structure(lambda _, part: part.dtype, spec, data, expand_composites=False)


def _adapted(spec: Any, dtype: Any) -> Any:
    import tensorflow as tf

    return spec if spec.dtype == dtype else tf.TensorSpec(spec.shape, dtype)


def copied(optimizer: Any, factor: float) -> Any:
    """A new optimizer of the same kind and options, at a constant rate: its own (of a schedule the highest) times `factor`."""
    inner = getattr(optimizer, "inner_optimizer", None)
    target = inner if inner is not None else optimizer
    rate = (rate_of(target) or 0.0) * factor
    if schedule_of(target) is not None:
        plain = type(target).from_config({**_config(target), "learning_rate": rate})
        return plain if inner is None else type(optimizer)(plain)
    made = type(optimizer).from_config(optimizer.get_config())
    getattr(made, "inner_optimizer", made).learning_rate = rate
    return made


def _config(optimizer: Any) -> dict[str, Any]:
    """The options of an optimizer whose schedule need not be able to tell its own: many a script's cannot."""
    schedule = schedule_of(optimizer)
    told = vars(schedule).get("get_config")
    schedule.get_config = dict
    try:
        return dict(optimizer.get_config())
    finally:
        del schedule.get_config
        if told is not None:
            schedule.get_config = told
