"""One step of a loop with `tf.GradientTape`, taken apart so that it can be taken again: a model, a loss of its output, an optimizer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.frameworks.watch.keras_backend import KerasBackend
from harness.frameworks.watch.keras_compile import rate_of
from harness.frameworks.watch.keras_replay import copied
from harness.frameworks.watch.keras_state import variables_of_optimizer
from harness.frameworks.watch.keras_trace import LossSeen, numpy_of

_ALIKE = 1e-3


@dataclass
class Taken:
    """What was seen of one step. `forwards`: model, arguments, result of outermost calls; `losses`: a function of (true, pred, weight),
    these three, and its value; `targets`, `sources`, `gradients`: of the tape; `applied`: the gradients that the optimizer got."""

    forwards: list[tuple[Any, tuple[Any, ...], dict[str, Any], Any]] = field(default_factory=list)
    losses: list[tuple[Callable[..., Any], Any, Any, Any, Any]] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    sources: list[Any] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)
    applied: list[Any] = field(default_factory=list)


class Recipe:
    """Takes a step of the script again. `data` of a step: what the model is given, the target of the loss, and weights of rows if any."""

    def __init__(self, taken: Taken, optimizer: Any) -> None:
        """Raises ValueError, with the reason, where a step is more than a model, one loss of its output, and an optimizer."""
        import tensorflow as tf

        if not (len(taken.forwards) == len(taken.losses) == len(taken.targets) == 1):
            raise ValueError("a step is made of several forward passes or losses")
        self.model, args, kwargs, made = taken.forwards[0]
        again, _, pred, _, value = taken.losses[0]
        known = {id(variable) for variable in self.model.trainable_variables}
        if not taken.sources or any(id(source) not in known for source in taken.sources):
            raise ValueError("the tape is asked for gradients of more than the model's weights")
        if [id(part) for part in taken.gradients] != [id(part) for part in taken.applied]:
            raise ValueError("the gradients are changed before the step")
        self.optimizer, self._again, self.sources = optimizer, again, taken.sources
        self._args, self._kwargs = args, kwargs
        self._keys = [key for key, part in _arguments(args, kwargs).items() if _tensors(part)]
        outputs = [part for part in tf.nest.flatten(made) if tf.is_tensor(part)]
        self._index = next((number for number, part in enumerate(outputs) if part is pred), -1)
        self._tail: tuple[int, ...] | None = None
        if self._index < 0:
            self._index = next((number for number, part in enumerate(outputs) if _same_values(part, pred)), -1)
            self._tail = tuple(pred.shape[1:])
        if self._index < 0 or not self._keys:
            raise ValueError("what the loss is given is not what the model gives")
        self._sum = tf.is_tensor(value) and bool(value.shape.rank) and abs(self._ratio(taken) / int(tf.size(value)) - 1) < _ALIKE
        self.factor = 1.0 if self._sum else self._ratio(taken)

    @staticmethod
    def _ratio(taken: Taken) -> float:
        """The loss that went backward by the mean of what the loss function gave."""
        mean = float(np.mean(numpy_of(taken.losses[0][-1])))
        return float(np.sum(numpy_of(taken.targets[0]))) / mean if mean else 1.0

    def describes(self, taken: Taken) -> bool:
        """Whether another step was made in the same way."""
        if not (len(taken.forwards) == len(taken.losses) == len(taken.targets) == 1):
            return False
        scale, ratio = float(np.size(numpy_of(taken.losses[0][-1]))) if self._sum else self.factor, self._ratio(taken)
        return not math.isfinite(ratio) or abs(ratio - scale) <= _ALIKE * abs(scale)

    def data(self, taken: Taken) -> tuple[Any, ...]:
        """What this step worked on."""
        import tensorflow as tf

        _, args, kwargs, _ = taken.forwards[0]
        _, true, _, weight, _ = taken.losses[0]
        given = {key: tf.nest.map_structure(_constant, part) for key, part in _arguments(args, kwargs).items() if key in self._keys}
        inputs = next(iter(given.values())) if len(given) == 1 else given
        return (inputs, _constant(true)) if weight is None else (inputs, _constant(true), _constant(weight))

    def predict(self, data: tuple[Any, ...], *, evaluating: bool = False) -> Any:
        """What the loss is given of a step."""
        import tensorflow as tf

        given = {self._keys[0]: data[0]} if len(self._keys) == 1 else data[0]
        args = [given.get(str(number), part) for number, part in enumerate(self._args)]
        kwargs = {name: given.get(name, part) for name, part in self._kwargs.items()}
        if evaluating and kwargs.get("training"):
            kwargs["training"] = False
        made = [part for part in tf.nest.flatten(self.model(*args, **kwargs)) if tf.is_tensor(part)][self._index]
        return made if self._tail is None else tf.reshape(made, (-1, *self._tail))

    def loss(self, data: tuple[Any, ...], pred: Any) -> Any:
        """The loss that goes backward."""
        import tensorflow as tf

        value = self._again(data[1], pred, data[2] if len(data) > 2 else None)
        return tf.reduce_sum(value) if self._sum else self.factor * tf.reduce_mean(value)

    def step(self, data: tuple[Any, ...], optimizer: Any) -> Any:
        """One step with an optimizer; its loss."""
        import tensorflow as tf

        with tf.GradientTape() as tape:
            loss = self.loss(data, self.predict(data))
        optimizer.apply_gradients(zip(tape.gradient(loss, self.sources), self.sources, strict=True))
        return loss

    def __call__(self, data: tuple[Any, ...]) -> Any:
        """The step as a `train_step`."""
        return self.step(data, self.optimizer)


class TapeReplay:
    """Takes the steps of a recipe again and again, as a function of a graph where TensorFlow can make one of them."""

    def __init__(self, recipe: Recipe) -> None:
        import tensorflow as tf

        self._recipe = recipe
        self._optimizer = copied(recipe.optimizer, 1.0)
        self._optimizer.build(recipe.sources)
        self._fresh = [(variable, np.array(variable.numpy())) for variable in variables_of_optimizer(self._optimizer)]
        self._rate = rate_of(getattr(self._optimizer, "inner_optimizer", self._optimizer)) or 0.0
        self._step: Callable[[Any], Any] = tf.function(self._eagerly, reduce_retracing=True)

    def _eagerly(self, data: Any) -> Any:
        return self._recipe.step(data, self._optimizer)

    def losses(self, batches: Iterable[Any], factor: float) -> Iterable[float]:
        """The loss of each step, endlessly over `batches`, by a new optimizer at its own rate times `factor`."""
        for variable, value in self._fresh:
            variable.assign(value)
        getattr(self._optimizer, "inner_optimizer", self._optimizer).learning_rate = self._rate * factor
        return (float(self._take(data)) for data in itertools.cycle(list(batches)))

    def _take(self, data: Any) -> Any:
        try:
            return self._step(data)
        except Exception:
            if self._step == self._eagerly:
                raise
            self._step = self._eagerly
            return self._step(data)


class TapeBackend(KerasBackend):
    """The steps of a loop, taken again by their recipe."""

    def __init__(self, recipe: Recipe, **parts: Any) -> None:
        super().__init__(model=recipe.model, train_step=recipe, **parts)
        self._recipe = recipe

    def _try(self, data: Any) -> tuple[float, list[LossSeen]]:
        pred = self._recipe.predict(data, evaluating=True)
        return float(self._recipe.loss(data, pred)), [LossSeen(None, data[1], pred, inside=False, weighted=len(data) > 2)]


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, or by their number."""
    return {**{str(number): part for number, part in enumerate(args)}, **kwargs}


def _tensors(part: Any) -> bool:
    import tensorflow as tf

    return any(tf.is_tensor(leaf) or isinstance(leaf, np.ndarray) for leaf in tf.nest.flatten(part))


def _constant(part: Any) -> Any:
    import tensorflow as tf

    return tf.convert_to_tensor(part) if isinstance(part, np.ndarray) or tf.is_tensor(part) else part


def _same_values(part: Any, pred: Any) -> bool:
    """Whether `pred` is `part` in another shape, row by row."""
    first, second = numpy_of(part), numpy_of(pred)
    if np.size(first) != np.size(second) or not np.ndim(second) or len(first) != len(second):
        return False
    return bool(np.array_equal(np.ravel(first), np.ravel(second)))
