"""What happens inside one Keras step: losses and what they compare, the tape's target, gradients, the models' outputs.

`train_step` is traced into a graph, so Python cannot watch it run. The traced function is given more outputs instead, which leave with
the step's logs and are taken out before Keras sees them. Nothing is added to the graph before the step itself is complete: seeds of
TensorFlow's random operations depend on how many there are before them.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.frameworks import autograph
from harness.frameworks.watch import keras_divergence, keras_functions, keras_leaving

KEY = "__watched__"
_ALIKE = ("MeanSquaredError", "MeanAbsoluteError", "MeanSquaredLogarithmicError", "CosineSimilarity", "LogCosh", "Huber", "KLDivergence")


class Stop(Exception):
    """Ends a step before its gradient is taken."""


@dataclass
class LossSeen:
    """A call of a loss object: what it compared, what it gave. `inside`: within a model's own forward pass; `swapped`: it was given the
    model's output as `true`; here both stand in their own places. `place`: where the script calls it."""

    loss: Any
    true: Any
    pred: Any
    inside: bool
    weighted: bool
    swapped: bool = False
    rows: Any = None
    value: Any = None
    activation: str | None = None
    place: Any = None

    @property
    def dummy(self) -> bool:
        """The stand-in of transformers for the loss that a model computes itself."""
        return "dummy_loss" in (getattr(getattr(self.loss, "fn", None), "__name__", ""), type(self.loss).__name__)


@dataclass(frozen=True)
class Part:
    """The value of a loss function or object that calls no other: float[] or one a row. `place`: where the script calls it."""

    name: str
    value: Any
    place: Any


@dataclass
class Recording:
    """One step. `targets`, `sources`, `gradients`: of each call of a tape, in order; `outputs`: of each outermost model call,
    and of the same `given`: its first argument, and where it is called.

    `divergence`: of a variational autoencoder, see `keras_divergence.parts`. `watched`: variables that a tape has followed, asked for or
    not. `differences`: where a model's output is subtracted from something else, or the reverse: the other side, the output, the place.
    `untold`: where outermost models are called without being told whether this is training, if none of them is; `training`: where one is
    told that it is; `swapped`: where a loss is given both sides the other way round; `unrecorded`: where the model whose step it is was
    called, if no tape records any call of it. `rivals`: what `keras_players` adds to what leaves the step. `begun`: of each call of a tape,
    how many of the outputs were there before it began to record.
    """

    targets: list[Any] = field(default_factory=list)
    sources: list[list[Any]] = field(default_factory=list)
    gradients: list[list[Any]] = field(default_factory=list)
    losses: list[LossSeen] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    differences: list[tuple[Any, Any, Any]] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)
    told: bool = False
    untold: Any = None
    training: Any = None
    swapped: Any = None
    asked: Any = None
    recorded: bool = False
    unrecorded: Any = None
    watched: list[Any] = field(default_factory=list)
    divergence: dict[str, Any] = field(default_factory=dict)
    given: list[tuple[Any, Any]] = field(default_factory=list)
    rivals: Any = None
    begun: list[int] = field(default_factory=list)
    depth: int = 0

    def used(self) -> list[LossSeen]:
        """The losses that count: those given to `compile` (or called by the step), else the model's own."""
        real = [seen for seen in self.losses if not seen.dummy]
        return [seen for seen in real if not seen.inside] or real


def exchanged(loss: Any, true: Any, pred: Any, outputs: Any) -> bool:
    """Whether it is the wanted side of a loss that a model has given, and not the other. `outputs`: of models, in any nesting. Losses that
    say the same either way do not count."""
    import tensorflow as tf

    if type(loss).__name__ in _ALIKE:
        return False
    given = {id(part) for part in tf.nest.flatten(outputs)}
    return bool(given) and id(true) in given and id(pred) not in given


@contextlib.contextmanager
def patched(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """`owner.name` replaced by `make(original)` while inside."""
    before = vars(owner).get(name)
    original = getattr(owner, name)
    setattr(owner, name, functools.update_wrapper(make(original), original))
    try:
        yield
    finally:
        if before is None:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


@contextlib.contextmanager
def recording(keras: Any, *, evaluating: bool = False, stop: bool = False, on_forward: Callable[[], None] | None = None,
              on_fault: Callable[[str, Exception], None] | None = None, place: Callable[[], Any] | None = None, of: Any = None,
              differences: bool = False) -> Iterator[Recording]:
    """Record what happens inside. `evaluating`: models run in inference mode whatever they are told; `stop`: end before the gradient.

    `on_fault` is told of an exception and the stage that it came out of: Keras strips the frames that would say so. `of`: the model whose
    step it is; `differences`: what is subtracted from its outputs is recorded as well.
    """
    import tensorflow as tf

    record = Recording()
    patches = _Patches(record, evaluating, stop, on_forward, on_fault, place, of)
    wrapper = next(cls for cls in keras.losses.SparseCategoricalCrossentropy.__mro__ if "call" in vars(cls))
    layers = patched(keras.layers.Layer, "__call__", patches.layer_call) if evaluating else contextlib.nullcontext()
    with patched(tf.GradientTape, "__enter__", patches.enter), \
            patched(tf.GradientTape, "gradient", patches.gradient), patched(keras.losses.Loss, "__call__", patches.loss_call), \
            patched(wrapper, "call", patches.row_call), \
            layers, patched(keras.Model, "__call__", patches.model_call), \
            patched(keras.Model, "compute_metrics", patches.metrics_call), \
            patched(tf.Tensor, "__sub__", lambda original: patches.difference(original) if differences else original), \
            keras_functions.patched_in(keras, patches.function_call):
        yield record


class _Patches:
    """What stands in for the methods that are recorded."""

    def __init__(self, record: Recording, evaluating: bool, stop: bool, on_forward: Callable[[], None] | None,
                 on_fault: Callable[[str, Exception], None] | None, place: Callable[[], Any] | None, of: Any) -> None:
        self._record, self._evaluating, self._stop = record, evaluating, stop
        self._on_forward, self._on_fault, self._find, self._of = on_forward, on_fault, place, of
        self._stack: list[LossSeen] = []
        self._begun: dict[int, int] = {}  # of a tape, how many models had answered before
        self._inside = 0  # of layers that are called by themselves

    def enter(self, original: Any) -> Any:
        def wrapped(tape: Any) -> Any:
            self._begun[id(tape)] = len(self._record.outputs)
            return original(tape)

        return wrapped

    def gradient(self, original: Any) -> Any:
        import tensorflow as tf

        def wrapped(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            self._record.targets.append(target)
            if self._on_forward is not None:
                self._on_forward()
            if self._stop:
                raise Stop
            found = original(tape, target, sources, *args, **kwargs)
            self._record.sources.append(tf.nest.flatten(sources))
            self._record.begun.append(self._begun.get(id(tape), 0))
            self._record.asked = self._record.asked or self._place()
            self._record.watched += tape.watched_variables()
            self._record.gradients.append(flat(found))
            return found

        return wrapped

    def loss_call(self, original: Any) -> Any:
        def wrapped(loss: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
            swapped = exchanged(loss, y_true, y_pred, self._record.outputs)
            self._record.swapped = self._record.swapped or (self._place() if swapped else None)
            true, pred = (y_pred, y_true) if swapped else (y_true, y_pred)
            seen = LossSeen(loss, true, pred, inside=self._record.depth > 0, weighted=sample_weight is not None, swapped=swapped,
                            activation=keras_functions.activation_of(pred), place=self._place())
            self._record.losses.append(seen)
            before = len(self._record.parts)
            self._stack.append(seen)
            try:
                with self._told("loss"):
                    seen.value = original(loss, y_true, y_pred, sample_weight)
            finally:
                self._stack.pop()
            if len(self._record.parts) == before and not seen.dummy:
                self._record.parts.append(Part(type(loss).__name__, seen.value, seen.place))
            return seen.value

        return wrapped

    def function_call(self, original: Any, stand_in: Any, given: Callable[..., tuple[Any, Any]]) -> Any:
        """A loss function that the step calls by itself, on what a model gave; not one that a loss object or a metric of the library's
        calls."""
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            found = original(*args, **kwargs)
            if keras_functions.of_a_library(sys._getframe(1)):
                return found
            self._record.parts.append(Part(original.__name__, found, self._place()))
            if not self._stack and stand_in is not None:
                true, pred = given(*args, **kwargs)
                if not keras_functions.answered(pred, self._record.outputs):
                    return found  # rows against each other, say: no answer beside what is wanted
                place = self._place()
                self._record.losses.append(LossSeen(stand_in(kwargs, place), true, pred, inside=self._record.depth > 0, weighted=False,
                                                    rows=found, value=found, activation=keras_functions.activation_of(pred), place=place))
            return found

        return wrapped

    def row_call(self, original: Any) -> Any:
        def wrapped(loss: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(loss, *args, **kwargs)
            if self._stack:
                self._stack[-1].rows = found
            return found

        return wrapped

    def model_call(self, original: Any) -> Any:
        def wrapped(model: Any, *args: Any, **kwargs: Any) -> Any:
            if self._evaluating and kwargs.get("training"):
                kwargs["training"] = False
            if not self._record.depth:
                self._told_of_training("training" in kwargs or len(args) > 1)
                if kwargs.get("training") is True and model is self._of and self._record.training is None:
                    self._record.training = self._place()
                if model is self._of:
                    self._of_step()
            self._record.depth += 1
            try:
                with self._told("forward"):
                    found = original(model, *args, **kwargs)
            finally:
                self._record.depth -= 1
            if not self._record.depth:
                self._record.models.append(model)
                self._record.outputs.append(found)
                self._record.given.append((args[0] if args else next(iter(kwargs.values()), None), self._place()))
            return found

        return wrapped

    def layer_call(self, original: Any) -> Any:
        """A layer that a step calls by itself is told what the step is told; those inside of a model are the model's matter."""
        def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._inside and not self._record.depth and kwargs.get("training") is True:
                kwargs["training"] = False
            self._inside += 1
            try:
                return original(layer, *args, **kwargs)
            finally:
                self._inside -= 1

        return wrapped

    def _of_step(self) -> None:
        """The model whose step it is is called."""
        from tensorflow.python.eager import record

        known = self._record
        known.recorded = known.recorded or bool(record.could_possibly_record())
        known.unrecorded = None if known.recorded else known.unrecorded or self._place()

    def _told_of_training(self, told: bool) -> None:
        record = self._record
        record.told = record.told or told
        if record.told:
            record.untold = None
        elif record.untold is None:
            record.untold = self._place()

    def _place(self) -> Any:
        """Where the script is now; None where that cannot be told, which must not end its step."""
        with contextlib.suppress(Exception):
            return self._find() if self._find is not None else None
        return None

    def difference(self, original: Any) -> Any:
        def wrapped(left: Any, right: Any) -> Any:
            if self._record.depth or self._stack or not self._record.outputs:
                return original(left, right)
            import tensorflow as tf

            outputs = [part for output in self._record.outputs for part in tf.nest.flatten(output)]
            ours = [any(side is part for part in outputs) for side in (left, right)]
            if ours[0] != ours[1]:
                pred, true = (left, right) if ours[0] else (right, left)
                if tf.is_tensor(true) and true.shape.rank is not None and pred.shape.rank is not None:
                    self._record.differences.append((true, pred, self._place()))
            return original(left, right)

        return wrapped

    def metrics_call(self, original: Any) -> Any:
        def wrapped(model: Any, *args: Any, **kwargs: Any) -> Any:
            with self._told("evaluation"):
                return original(model, *args, **kwargs)

        return wrapped

    @contextlib.contextmanager
    def _told(self, stage: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self._on_fault is not None and not isinstance(error, Stop):
                self._on_fault(stage, error)
            raise


def flat(found: Any) -> list[Any]:
    """The gradients of a tape in order, those that did not arrive as None."""
    import tensorflow as tf

    if isinstance(found, list | tuple):
        return [leaf for item in found for leaf in flat(item)]
    if isinstance(found, dict):
        return [leaf for key in sorted(found) for leaf in flat(found[key])]
    return [found] if found is None or isinstance(found, tf.IndexedSlices) else list(tf.nest.flatten(found))


def watched(keras: Any, original: Any, tell: Callable[[Recording], None], on_forward: Callable[[], None],
            on_fault: Callable[[str, Exception], None], place: Callable[[], Any] | None = None, *, differences: bool = False,
            tracing: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext) -> Any:
    """`original` (a bound `train_step` or `test_step`) with what was recorded among its logs. `tell` gets the record of each tracing, which
    runs inside `tracing()`."""
    import tensorflow as tf

    def step(data: Any, *args: Any, **kwargs: Any) -> Any:
        around = contextlib.nullcontext() if tf.executing_eagerly() else tracing()
        with around, recording(keras, on_forward=on_forward, on_fault=on_fault, place=place, of=getattr(original, "__self__", None),
                               differences=differences) as record:
            logs = autograph.call(original, data, *args, **kwargs)
        with contextlib.suppress(Exception):  # graphs can hold what no derivative goes through
            record.divergence = keras_divergence.parts(record.targets[0], record.outputs, data) if len(record.targets) == 1 else {}
        tell(record)
        return {**logs, KEY: keras_leaving.outputs(record, data)} if isinstance(logs, dict) else logs

    converted = tf.autograph.experimental.do_not_convert(step)
    converted.__watched__ = original
    return converted


def numpy_of(value: Any) -> Any:
    """A tensor's values as an array (floats that numpy lacks as float32); what is no tensor as it is."""
    tf = sys.modules["tensorflow"]
    if isinstance(value, tf.RaggedTensor | tf.SparseTensor):
        value = value.to_tensor() if isinstance(value, tf.RaggedTensor) else tf.sparse.to_dense(value)
    if not hasattr(value, "numpy"):
        return value
    made = value.numpy()
    kind = getattr(getattr(made, "dtype", None), "name", "")
    return made.astype("float32") if kind in ("bfloat16", "float16") else made
