"""Loops of a script's own with `tf.GradientTape`, outside `fit`: losses, gradients and steps.

A function of the script's own that `tf.function` would compile is run as plain Python while it is watched: in a graph nothing can be seen.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import LossCall
from harness.checks.training_facts import StepFacts
from harness.frameworks.watch import keras_divergence, keras_functions, keras_pulls, keras_rewards, tensors
from harness.frameworks.watch.keras_applied import Applied
from harness.frameworks.watch.keras_bare import Bare, is_variable
from harness.frameworks.watch.keras_broadcast import Broadcasts
from harness.frameworks.watch.keras_compile import CROSS_ENTROPIES, current_rate_of
from harness.frameworks.watch.keras_cut import Cut
from harness.frameworks.watch.keras_data import class_ids
from harness.frameworks.watch.keras_given import Given
from harness.frameworks.watch.keras_graphs import Graphs
from harness.frameworks.watch.keras_idle import Idle
from harness.frameworks.watch.keras_loop_evaluations import Evaluations, Forward
from harness.frameworks.watch.keras_signs import OfTapes
from harness.frameworks.watch.keras_tape import Taken, disjoint, holds, recorded
from harness.frameworks.watch.keras_tape_probes import TapeProbes
from harness.frameworks.watch.keras_trace import exchanged, flat, numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_CALLS, _OUTPUTS, _PARTS, _ROWS = 60, 12, 32, 256


class Loop:
    """Hooks tapes, models, losses and optimizers; silent while `fit` or a probe runs."""

    def __init__(self, watch: KerasWatcher, keras: Any) -> None:
        self._watch = watch
        self._keras = keras
        self._inside = 0
        self._model: Any = None
        self._given: Any = None
        self._rows = Given(watch)
        self._outputs: dict[int, Any] = {}
        self._calls: list[LossCall] = []
        self._targets: list[float] = []
        self._norms: list[float] = []
        self._labels: Any = None
        self._sources: set[frozenset[int]] = set()
        self._trained: Any = None
        self._evaluated = False
        self._taken = Taken()
        self._idle, self._bare, self._evaluations = Idle(watch), Bare(watch), Evaluations(watch)
        watch.first_loop = watch.first_loop or self
        self._probes: TapeProbes | None = None
        self._due = False
        self._graphs, self._applied, self._signs = Graphs(watch), Applied(watch), OfTapes(watch, lambda: self._looking)
        self._ends_at: float | None = None

    @property
    def _looking(self) -> bool:
        import tensorflow as tf

        return self._watch.session.active and not self._watch.fits.running and not self._inside and tf.executing_eagerly()

    @property
    def _runs_bare(self) -> bool:
        """Whether no model has run, of neither Keras; of the two loops that watch the same tapes one tells."""
        return not self._watch.modelled and self._watch.first_loop is self

    @contextlib.contextmanager
    def _within(self) -> Iterator[None]:
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    def attach(self) -> None:
        import tensorflow as tf
        from tensorflow.python.data.ops import iterator_ops
        from tensorflow.python.eager.polymorphic_function import polymorphic_function

        replace = self._watch.session.patches.replace
        replace(iterator_ops.OwnedIterator, "__next__", self._wrap_next)
        replace(polymorphic_function.Function, "__call__", self._wrap_function)
        replace(tf.GradientTape, "gradient", self._wrap_gradient)
        replace(tf.GradientTape, "__enter__", self._wrap_enter)
        replace(tf.Tensor, "__sub__", self._wrap_difference)
        self._evaluations.attach()
        self._broadcasts = Broadcasts(self._watch, lambda: self._outputs, lambda: self._looking, lambda: self._runs_bare and recorded())
        self._broadcasts.attach()
        Cut(self._watch, lambda: self._outputs, lambda: self._looking).attach()
        replace(self._keras.Model, "__call__", self._wrap_model)
        replace(self._keras.losses.Loss, "__call__", self._wrap_loss)
        replace(self._keras.optimizers.Optimizer, "apply_gradients", self._wrap_apply)
        if hasattr(self._keras.optimizers.Optimizer, "apply"):
            replace(self._keras.optimizers.Optimizer, "apply", self._wrap_apply)
        for owner, names, logits in ((tf.nn, keras_functions.OF_TENSORFLOW, True), (self._keras.losses, keras_functions.OF_KERAS, False)):
            for name, known in names.items():
                if not hasattr(owner, name):
                    continue
                replace(owner, name, functools.partial(self._wrap_loss_function, name=known, logits=logits))
        self._signs.attach(self._keras)

    def _wrap_next(self, original: Any) -> Any:
        def __next__(iterator: Any) -> Any:  # noqa: N807
            batch = original(iterator)
            if self._looking:
                self._rows.delivered(getattr(iterator, "_dataset", None), batch)
            return batch
        return __next__

    def _wrap_function(self, original: Any) -> Any:
        from tensorflow.python.util import tf_decorator

        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not self._looking:
                return original(function, *args, **kwargs)
            python = function._python_function
            inner = tf_decorator.unwrap(python)[1]
            code = getattr(inner, "__code__", None)
            if code is not None and self._watch.session.sites.is_own(code.co_filename):
                import tensorflow as tf

                if not self._watch.leads_on and self._graphs.rests(function):
                    self._may_end()
                    return self._watch.states.rested(function, code.co_name, args, lambda: original(function, *args, **kwargs))
                with self._graphs.called(function, inner, args, kwargs), self._watch.draws.traced([python], "drawn_in_step", trains=False):
                    args = tuple(tf.convert_to_tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args)
                    return self._watch.states.ran(function, code.co_name, args, lambda: python(*args, **kwargs))
            return original(function, *args, **kwargs)

        return __call__

    def _wrap_model(self, original: Any) -> Any:
        def __call__(model: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not self._looking:
                return original(model, *args, **kwargs)
            with self._within():
                found = original(model, *args, **kwargs)
            self._watch.session.safely("a forward pass", self._ran, model, args, kwargs, found)
            self._watch.session.safely("an evaluation", self._evaluates, model, args, kwargs.get("training"), found)
            return found

        return __call__

    def _wrap_enter(self, original: Any) -> Any:
        """Experiments wait until the next step begins: what a step left in the model is still there when the script looks at it."""

        def __enter__(tape: Any) -> Any:  # noqa: N807
            if self._due and self._looking and not recorded():
                self._due = False
                self._watch.probed()
            if self._looking and self._watch.seen.steps and not recorded():
                self._watch.session.safely("a tape", self._evaluations.entered, tape)
            if self._looking:
                self._watch.read_out.entered(tape)
            if self._looking and (keras_divergence.is_due(self._number) or self._watch.players.wanting):
                tape._persistent = True  # so that it can be asked more than the script asks
            return original(tape)

        return __enter__

    def _ran(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any) -> None:
        import tensorflow as tf

        self._watch.session.reach("forward")
        self._model, self._given = model, args[0] if args else kwargs
        self._watch.modelled = True
        self._graphs.ran(model)
        self._idle.ran(model, recorded=recorded())
        self._watch.loop_ran(model, args, kwargs, recorded=recorded())
        self._watch.session.safely("two models", self._watch.players.ran, model, args, kwargs, found)
        if recorded():
            self._evaluations.trains()
            if model is self._trained:
                self._evaluations.recorded(Forward(args, kwargs.get("training"), self._watch.session.sites.here()))
        if recorded() and len(self._taken.forwards) < _PARTS:
            self._taken.forwards.append((model, args, kwargs, found))
            self._watch.seen.evaluation.training_forwards += 1
            if "training" not in kwargs and len(args) < 2:
                self._watch.seen.evaluation.training_in_eval_mode += 1  # unless its layers know better, see `Models.ended`
                self._watch.session.site("untold")
        if len(self._outputs) >= _OUTPUTS:
            self._outputs = {}  # an evaluation, after which no step forgets them
        for made in tf.nest.flatten(found):
            if len(self._outputs) < _OUTPUTS:
                self._outputs[id(made)] = made  # kept, so that its number is not given to another

    def _evaluates(self, model: Any, args: tuple[Any, ...], training: Any, found: Any) -> None:
        """A model runs where no tape records, after it has been trained: that is an evaluation."""
        if not self._watch.seen.steps or recorded():
            return
        if model is self._watch.steps.model:
            self._watch.evaluations.called(model, args, found)
        if self._watch.seen.model is not None and model is self._trained:
            self._evaluations.ran(Forward(args, training, None))
            self._watch.session.safely("rows of an evaluation", self._rows.held, model, args)
            self._evaluated = True

    def _wrap_loss(self, original: Any) -> Any:
        def __call__(loss: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not self._looking:
                return original(loss, y_true, y_pred, *args, **kwargs)
            with self._within():
                found = original(loss, y_true, y_pred, *args, **kwargs)
            weight = args[0] if args else kwargs.get("sample_weight")
            self._watch.session.safely("a loss", self._called, loss, y_true, y_pred, weight, found)
            return found

        return __call__

    def _called(self, loss: Any, true: Any, pred: Any, weight: Any, value: Any) -> None:
        call = self._watch.compiles.loss(None, loss, self._number)
        call.weighted = weight is not None and call.name in ("sparse_categorical", "categorical", "bce")
        call.swapped = exchanged(loss, true, pred, list(self._outputs.values()))
        if call.swapped:
            self._watch.session.site("loss.swapped")
        self._compared(call, *((pred, true) if call.swapped else (true, pred)), value)
        self._take(loss, true, pred, weight, value)

    def _take(self, again: Callable[..., Any] | None, true: Any, pred: Any, weight: Any, value: Any) -> None:
        self._broadcasts.lost(value)
        if recorded() and len(self._taken.losses) < _PARTS:
            self._taken.losses.append((again, true, pred, weight, value))

    def _wrap_loss_function(self, original: Any, name: str, logits: bool) -> Any:
        def loss(*args: Any, **kwargs: Any) -> Any:
            if not self._looking:
                return original(*args, **kwargs)
            with self._within():
                found = original(*args, **kwargs)
            keys, (true, pred) = keras_functions.keys_of(kwargs), keras_functions.given(*args, **kwargs)
            call = LossCall(name=name, step=self._number, reduction="none", site=self._watch.session.sites.here(),
                            from_logits=(logits or bool(kwargs.get("from_logits"))) if name in CROSS_ENTROPIES else None)
            self._watch.session.safely("a loss", self._compared, call, true, pred, found)

            def again(*given: Any) -> Any:
                named = {key: given[place] for place, key in enumerate(keys) if key}
                positional = [given[place] if place < 2 else part for place, part in enumerate(args)]
                return original(*positional, **(kwargs | named))

            self._take(again, true, pred, None, found)
            return found

        return loss

    def _wrap_difference(self, original: Any) -> Any:
        def __sub__(left: Any, right: Any) -> Any:  # noqa: N807
            made = original(left, right)
            if self._outputs and self._looking and (id(left) in self._outputs) != (id(right) in self._outputs):
                pred, true = (left, right) if id(left) in self._outputs else (right, left)
                self._watch.session.safely("a difference", self._subtracted, true, pred)
            return made

        return __sub__

    def _subtracted(self, true: Any, pred: Any) -> None:
        same = math.prod(getattr(true, "shape", ())) == math.prod(pred.shape) > 1
        if same and not np.array_equal(np.ravel(numpy_of(true)), np.ravel(numpy_of(pred))):  # pairs of rows are outputs against outputs
            self._compared(LossCall(name="other", step=self._number, site=self._watch.session.sites.here()), true, pred, None)
            self._take(None, true, pred, None, pred)

    @property
    def _number(self) -> int:
        return len(self._watch.seen.steps) + 1

    def _compared(self, call: LossCall, true: Any, pred: Any, value: Any) -> None:
        self._watch.session.reach("loss")
        call.inputs, call.target = tensors.facts(numpy_of(pred)), tensors.facts(np.asarray(numpy_of(true)))
        call.value = float(np.mean(numpy_of(value))) if value is not None else None
        if call.site is not None:
            self._watch.session.site("loss", call.site)
        self._labels = true
        self._calls.append(call)

    def _wrap_gradient(self, original: Any) -> Any:
        def gradient(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            looking = self._looking
            if looking and self._runs_bare and self._bare.stepped(flat(sources), self._targets, self._norms, self._calls):
                self._calls, self._targets, self._norms, self._outputs = [], [], [], {}
            found = original(tape, target, sources, *args, **kwargs)
            if looking:
                self._watch.session.safely("a gradient", self._went_back, tape, target, sources, found)
                if self._model is not None and self._taken.sources and holds(self._model, self._taken.sources):
                    self._watch.fruitless.went_back()
            return found

        return gradient

    def _went_back(self, tape: Any, target: Any, sources: Any, found: Any) -> None:
        import tensorflow as tf

        watch, session = self._watch, self._watch.session
        session.training_begins()
        session.reach("backward")
        session.site("backward")
        weights, gradients = tf.nest.flatten(sources), flat(found)
        if self._runs_bare and not any(map(is_variable, weights)):
            return  # by an input, as a differential equation wants them
        self._targets.append(float(np.sum(numpy_of(target))) if tf.is_tensor(target) else math.nan)
        each = [-1.0 if gradient is None else float(tf.linalg.global_norm([gradient])) for gradient in gradients]
        if len(self._taken.targets) >= _PARTS:
            self._taken = Taken()  # weights that are changed without an optimizer
        self._taken.went_back(target, weights, gradients)
        self._norms += [norm for norm in each if norm >= 0]
        if keras_divergence.is_due(self._number) and watch.in_full:
            session.safely("pairs of embeddings", keras_pulls.note, watch, tape, target, self._taken.forwards)
            session.safely("a divergence", keras_divergence.note, watch, tape, target, self._taken.forwards)
            session.safely("the sign of a loss", self._signs.went_back, tape, target)
            session.safely("rewards", keras_rewards.went_back, watch, tape, target, self._taken.forwards)
        session.safely("two models", watch.players.went_back, tape, target, weights)
        self._sources.add(frozenset(map(id, weights)))
        if self._runs_bare:
            self._bare.asked(tape.watched_variables(), weights)
        models = [model for model, *_ in self._taken.forwards]
        self._idle.went_back(weights, gradients, models)
        session.safely("weights that are left out", watch.left_out.went_back, tape.watched_variables(), weights)
        session.safely("what was read under a tape", watch.read_out.went_back, weights, gradients)
        session.safely("weights that were read", watch.unbuilt.went_back, weights, models)
        if not watch.seen.steps and self._model is not None and getattr(self._model, "built", False):
            if watch.seen.model is None:
                watch.use(self._keras.__name__)
                watch.begins(self._model)
                watch.models.weights(self._model)
                session.safely("hidden variables", watch.models.followed, self._model, tape.watched_variables())
            watch.models.gradients([id(weight) for weight in weights], each)
            watch.steps.begins(next((model for model, *_ in self._taken.forwards if holds(model, weights)), self._model))

    def _wrap_apply(self, original: Any) -> Any:
        def apply(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            looking = self._looking
            if looking and args and not isinstance(args[0], list | tuple):
                args = (list(args[0]), *args[1:])  # `zip` gives its pairs once
            with self._within():
                found = original(optimizer, *args, **kwargs)
            if looking:
                self._watch.session.safely("a step", self._stepped, optimizer, args[0] if args else [])
                self._due = True
                self._may_end()
            return found

        return apply

    def _may_end(self) -> None:
        """All steps were watched, and it has come to its evaluation: another training may still begin. May raise `Enough`."""
        session = self._watch.session
        if session.out_of_time:
            session.enough("time")
        if self._watch.leads_on or not self._evaluated:
            return
        self._ends_at = self._ends_at or session.watched_seconds + session.budget.further_seconds
        if session.watched_seconds >= self._ends_at or self._watch.seen.stale is not None:
            session.enough("enough steps")

    def _stepped(self, optimizer: Any, applied: list[Any]) -> None:
        watch, seen, taken = self._watch, self._watch.seen, self._taken
        watch.loop_stepped(taken.sources)
        self._bare.optimized = True
        self._graphs.stepped()
        self._applied.stepped(optimizer, applied, taken, self._sources)
        watch.session.trainings.stepped(optimizer, lambda: [tuple(weight.shape) for weight in taken.sources])
        calls, targets, norms = self._calls, self._targets, self._norms
        self._trained = self._model if targets else self._trained
        self._taken, self._calls, self._targets, self._norms, self._outputs = Taken(), [], [], [], {}
        if not watch.in_full:
            return
        watch.session.reach("step")
        watch.session.site("step")
        watch.buffers.stepped()
        watch.session.safely("padding", watch.asked.stepped, taken.forwards)
        seen.framework = "tf_keras" if self._keras.__name__ == "tf_keras" else "keras"
        if seen.optimizer is None:
            seen.optimizer = watch.compiles.optimizer(None, optimizer)
        labels = class_ids(numpy_of(self._labels)) if self._labels is not None else None
        if self._given is not None and (self._labels is not None or "labels" in getattr(self._given, "keys", tuple)()):
            self._watch.session.safely("a batch", self._rows.trained, taken.forwards, self._given, self._labels)
        squares = [norm * norm for norm in norms]
        seen.steps.append(StepFacts(
            step=self._number, loss=sum(targets) if targets else None, backwards=len(targets),
            learning_rate=current_rate_of(optimizer), labels=(labels or [])[:_ROWS] or None, gradient_norm=sum(squares) ** 0.5))
        if len(seen.steps) == 1:
            watch.steps.describe(calls)
            watch.probes = self._probes = TapeProbes(watch)
        if len(seen.loss_calls) < _CALLS:
            seen.loss_calls += calls
        seen.models_stepped = max(1, disjoint(self._sources))
        taken.applied, taken.optimizer = [part[0] if isinstance(part, list | tuple) else part for part in applied], optimizer
        if self._probes is not None:
            self._probes.took(taken, labels, seen.steps[-1].loss, calls)
