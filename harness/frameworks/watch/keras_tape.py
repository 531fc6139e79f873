"""One step of a loop with `tf.GradientTape`, taken apart so that it can be taken again: a model, a loss of its output, an optimizer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from harness.checks.probe_facts import SumFacts
from harness.frameworks.watch import keras_hidden, written
from harness.frameworks.watch.keras_backend import KerasBackend, Step
from harness.frameworks.watch.keras_clipping import Clipping
from harness.frameworks.watch.keras_compile import rate_of
from harness.frameworks.watch.keras_replay import copied
from harness.frameworks.watch.keras_state import variables_of_optimizer
from harness.frameworks.watch.keras_trace import LossSeen, numpy_of
from harness.frameworks.watch.sites import Sites, site

_ALIKE, _EQUAL = 1e-3, 1e-5
_WHOLE, _PLACES, _FILLERS = 0.5, 2, 3
_SUMS = ("reduce_sum", "sum")


@dataclass
class Taken:
    """What was seen of one step. `forwards`: model, arguments, result of outermost calls; `losses`: a function of (true, pred, weight),
    these three, and its value (no function where a difference of both was made by hand); `targets`, `sources`, `gradients`: of the tapes,
    the latter added up over as many as were `asked` for the same; `applied`: the gradients that the `optimizer` got."""

    forwards: list[tuple[Any, tuple[Any, ...], dict[str, Any], Any]] = field(default_factory=list)
    losses: list[tuple[Callable[..., Any] | None, Any, Any, Any, Any]] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    sources: list[Any] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)
    asked: int = 0
    applied: list[Any] = field(default_factory=list)
    optimizer: Any = None

    def went_back(self, target: Any, sources: list[Any], gradients: list[Any]) -> None:
        """A tape was asked for gradients of these sources."""
        self.targets.append(target)
        again = self.asked and [id(source) for source in sources] == [id(source) for source in self.sources]
        self.gradients = list(map(_added, self.gradients, gradients)) if again else gradients
        self.sources, self.asked = sources, self.asked + 1 if again else 1

    def parts(self) -> list[Taken]:
        """The batches whose gradients the step adds up, each as a step; nothing where it is made in another way."""
        count = len(self.targets)
        if not count or not count == self.asked == len(self.forwards) == len(self.losses):
            return []
        if any(model is not self.forwards[0][0] for model, *_ in self.forwards):
            return []
        return [Taken([forward], [loss], [target], self.sources)
                for forward, loss, target in zip(self.forwards, self.losses, self.targets, strict=True)]


class Recipe:
    """Takes a step of the script again. `data` of a step: what the model is given, the target of the loss, and weights of rows if any."""

    def __init__(self, taken: Taken) -> None:
        """Raises ValueError, with the reason, where a step is more than a model, one loss of its output, and an optimizer."""
        import tensorflow as tf

        parts = taken.parts()
        if not parts:
            raise ValueError("a step is made of several forward passes or losses")
        self.batches = len(parts)
        self.model, args, kwargs, made = taken.forwards[0]
        given, true, pred, _, _ = taken.losses[0]
        again = given or _of_differences(true, pred, taken.targets[0])
        if again is None:
            raise ValueError("the loss is made by hand")
        if not taken.sources or not holds(self.model, taken.sources):
            raise ValueError("the tape is asked for gradients of more than the model's weights")
        self._clipping, self._share = Clipping(), 1.0
        divided = [_times(part, 1 / self.batches) for part in taken.gradients] if self.batches > 1 else []
        if divided and Clipping().describes(divided, taken.applied):
            self._share = 1 / self.batches
        # Where each gradient is changed for itself no step can be taken again, and losses can.
        self.changed = not self._goes_on(taken)
        if hasattr(taken.optimizer, "inner_optimizer"):
            raise ValueError("the loss is scaled")
        self.optimizer, self._again, self.sources = taken.optimizer, again, taken.sources
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
        self._left_out: int | None = None
        self._left_out = self._filler(parts[0])
        total, mean = self._ratios(parts[0])
        # A sum of the rows' losses keeps its factor in a smaller last batch, a mean of them as well: which it is, other steps tell.
        self._sum = total is not None and abs(total - 1) < _ALIKE
        self._total, self.factor = total, mean if math.isfinite(mean) else 1.0
        if not all(self._alike(part) for part in parts[1:]):
            raise ValueError("a step adds up several losses")

    @property
    def undivided(self) -> int:
        """Of how many batches a step adds up the gradients of their mean losses without dividing; 0 where it does not."""
        return self.batches if self.batches > 1 and self._share == 1 and not self._sum and _near(self.factor, 1.0) else 0

    def _goes_on(self, taken: Taken) -> bool:
        """Whether the optimizer gets what the tapes gave, as in other steps."""
        return self._clipping.describes([_times(part, self._share) for part in taken.gradients], taken.applied)

    def _ratios(self, taken: Taken) -> tuple[float | None, float]:
        """The loss that went backward by the sum (None of a single number) and by the mean (no number where that is 0) of what the loss
        function gave."""
        given, true, pred, _, value = taken.losses[0]
        each = np.asarray(numpy_of(value if given is not None else self._again(true, pred)))
        if self._left_out is not None:
            each = each[np.asarray(numpy_of(true)) != self._left_out]
        target, mean = float(np.sum(numpy_of(taken.targets[0]))), float(each.mean())
        return (target / (mean * each.size) if each.ndim and mean else None), (target / mean if mean else math.nan)

    def _filler(self, taken: Taken) -> int | None:
        """The label whose places are all left out, where the loss that went backward is the mean over the others of what the loss function
        gave place by place: so a script masks its padding."""
        given, true, _, weight, value = taken.losses[0]
        wanted, each = np.asarray(numpy_of(true)), np.asarray(numpy_of(value))
        if given is None or weight is not None or each.ndim != _PLACES or wanted.shape != each.shape or wanted.dtype.kind not in "iu":
            return None
        target = float(np.sum(numpy_of(taken.targets[0])))
        values, counts = np.unique(wanted[:, [0, -1]], return_counts=True)
        likely = [int(label) for label in values[np.argsort(-counts)][:_FILLERS]]
        means: dict[int | None, float] = {None: float(each.mean())}  # an untrained model may find all places alike
        means |= {label: float(each[wanted != label].mean()) for label in likely if (wanted != label).any()}
        closest = min(means, key=lambda label: abs(means[label] - target))
        return closest if _near(means[closest], target) else None

    @property
    def adds_up(self) -> bool:
        """Whether the loss is the sum, and no mean, of what the loss function gives row by row."""
        return self._total is not None and abs(self._total) >= _WHOLE

    def describes(self, taken: Taken) -> bool:
        """Whether another step was made in the same way, be it of fewer batches."""
        parts = taken.parts()
        same = parts and taken.forwards[0][0] is self.model and taken.optimizer is self.optimizer
        if not same or [id(source) for source in taken.sources] != [id(source) for source in self.sources]:
            self.changed = self.changed or not self._goes_on(taken)
            return False
        self.changed = self.changed or (len(parts) == self.batches and not self._goes_on(taken))
        return all(map(self._alike, parts))

    def _alike(self, part: Taken) -> bool:
        """Whether the loss of a batch is made as that of the first."""
        total, mean = self._ratios(part)
        if not math.isfinite(mean):
            return True
        if not self._sum and not _near(mean, self.factor) and total is not None and self._total is not None and _near(total, self._total):
            self._sum = True
        return _near(total, self._total) if self._sum and total is not None and self._total is not None else _near(mean, self.factor)

    def whole(self, taken: Taken) -> bool:
        """Whether a step is made of as many batches as the first."""
        return len(taken.targets) == self.batches

    def data(self, taken: Taken) -> tuple[Any, ...]:
        """What this step worked on, as one batch. Raises ValueError where several do not make one."""
        import tensorflow as tf

        found = [self._data(part) for part in taken.parts()]
        if len(found) == 1:
            return found[0]
        shapes = [[tuple(leaf.shape[1:]) if tf.is_tensor(leaf) and leaf.shape.rank else None for leaf in tf.nest.flatten(part)]
                  for part in found]
        if any(None in shape or shape != shapes[0] for shape in shapes):
            raise ValueError("the batches that a step adds up differ in shape")
        return cast("tuple[Any, ...]", tf.nest.map_structure(lambda *leaves: tf.concat(leaves, 0), *found))

    def _data(self, taken: Taken) -> tuple[Any, ...]:
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
        if evaluating:
            args = [False if part is True else part for part in args]
            kwargs |= {"training": False} if kwargs.get("training") else {}
        made = [part for part in tf.nest.flatten(self.model(*args, **kwargs)) if tf.is_tensor(part)][self._index]
        return made if self._tail is None else tf.reshape(made, (-1, *self._tail))

    def loss(self, data: tuple[Any, ...], pred: Any) -> Any:
        """The loss that goes backward."""
        import tensorflow as tf

        value = self._again(data[1], pred, *data[2:]) if len(data) > 2 else self._again(data[1], pred)
        if self._left_out is not None:
            value = tf.boolean_mask(value, data[1] != self._left_out)
        # The mean of several batches as one is that of each, and what goes backward is the sum of theirs.
        return (self._total or 1.0) * tf.reduce_sum(value) if self._sum else self.batches * self.factor * tf.reduce_mean(value)

    def step(self, data: tuple[Any, ...], optimizer: Any) -> Any:
        """One step with an optimizer; its loss."""
        import tensorflow as tf

        with tf.GradientTape() as tape:
            loss = self.loss(data, self.predict(data))
        gradients = tape.gradient(loss, self.sources)
        if self._share != 1:
            gradients = [_times(part, self._share) for part in gradients]
        optimizer.apply_gradients(zip(self._clipping(gradients), self.sources, strict=True))
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
        self._rate = rate_of(self._optimizer) or 0.0
        self._step: Callable[[Any], Any] = tf.function(self._eagerly, reduce_retracing=True)

    def _eagerly(self, data: Any) -> Any:
        return self._recipe.step(data, self._optimizer)

    def losses(self, batches: Iterable[Any], factor: float) -> Iterable[float]:
        """The loss of each step, endlessly over `batches`, by a new optimizer at its own rate times `factor`."""
        for variable, value in self._fresh:
            variable.assign(value)
        self._optimizer.learning_rate = self._rate * factor
        return (float(self._take(data)) for data in itertools.cycle(list(batches)))

    def eager(self) -> TapeReplay:
        """The same anew, with layers and optimizer as they are now."""
        return TapeReplay(self._recipe)

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

    def _try(self, data: Any, *, evaluating: bool = True) -> tuple[float, list[LossSeen]]:
        pred = self._recipe.predict(data, evaluating=evaluating)
        return float(self._recipe.loss(data, pred)), [LossSeen(None, data[1], pred, inside=False, weighted=len(data) > 2)]

    def summed(self, steps: list[Step], sites: Sites) -> SumFacts | None:
        """Where the script adds up the rows of a batch to (most of) its loss: in the only line that adds up at all, else unknown."""
        place = next((place for name in _SUMS if (place := written.built(name, sites.script, sites)) is not None), None)
        return SumFacts(rows=self.rows(steps[0]), site=site(place)) if self._recipe.adds_up and self.rows(steps[0]) > 1 else None


def _of_differences(true: Any, pred: Any, target: Any) -> Callable[..., Any] | None:
    """The usual function of differences that has this value, squares or distances; None where none has."""
    import tensorflow as tf

    wanted = float(np.sum(numpy_of(target)))
    for function in (tf.square, tf.abs):
        def loss(true: Any, pred: Any, function: Any = function) -> Any:
            return function(tf.cast(true, pred.dtype) - pred)

        each = numpy_of(loss(true, pred))
        if any(abs(wanted - factor * float(total)) <= _EQUAL * abs(wanted) for total in (each.mean(), each.sum()) for factor in (1.0, 0.5)):
            return loss
    return None


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, or by their number."""
    return {**{str(number): part for number, part in enumerate(args)}, **kwargs}


def _tensors(part: Any) -> bool:
    """Whether an argument holds numbers that change from step to step. Raises ValueError where they are sparse or ragged."""
    import tensorflow as tf

    leaves = tf.nest.flatten(part)
    if any(tf.is_tensor(leaf) and not isinstance(leaf, tf.Tensor | tf.Variable) for leaf in leaves):
        raise ValueError("the model is given sparse or ragged tensors")
    return any(tf.is_tensor(leaf) or isinstance(leaf, np.ndarray) for leaf in leaves)


def _constant(part: Any) -> Any:
    import tensorflow as tf

    return tf.convert_to_tensor(part) if isinstance(part, np.ndarray) or tf.is_tensor(part) else part


def holds(model: Any, weights: list[Any]) -> bool:
    """Whether these are weights of a model's that can be trained."""
    known = keras_hidden.ids_of(model.trainable_variables)
    return all(id(weight) in known for weight in weights)


def rows_of(batch: Any) -> int | None:
    """The length of the first tensor in a batch that has one."""
    import tensorflow as tf

    parts = (part.shape for part in tf.nest.flatten(batch) if hasattr(part, "shape"))
    return next((shape[0] for shape in parts if len(shape)), None)


def recorded() -> bool:
    """Whether a tape may record what happens now."""
    from tensorflow.python.eager import record

    return bool(record.could_possibly_record())


def _added(one: Any, other: Any) -> Any:
    import tensorflow as tf

    if one is None or other is None:
        return other if one is None else one
    return tf.convert_to_tensor(one) + tf.convert_to_tensor(other)


def _times(gradient: Any, share: float) -> Any:
    import tensorflow as tf

    return gradient if gradient is None or share == 1 else share * tf.convert_to_tensor(gradient)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _ALIKE * abs(other)


def _same_values(part: Any, pred: Any) -> bool:
    """Whether `pred` is `part` in another shape, row by row."""
    first, second = numpy_of(part), numpy_of(pred)
    if np.size(first) != np.size(second) or not np.ndim(second) or len(first) != len(second):
        return False
    return bool(np.array_equal(np.ravel(first), np.ravel(second)))


def disjoint(groups: set[frozenset[int]]) -> int:
    """How many models step: sets of weights that have none in common."""
    kept: list[frozenset[int]] = []
    for group in sorted(groups, key=len):
        if group and not any(group & other for other in kept):
            kept.append(group)
    return len(kept)
