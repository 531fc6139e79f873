"""Training steps: the functions that Keras builds for them, watched, and what each step says."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import LossCall
from harness.checks.training_facts import StepFacts
from harness.frameworks.watch import (
    keras_broadcast,
    keras_divergence,
    keras_gradients,
    keras_loss_graph,
    keras_opposed,
    keras_tempered,
    keras_tracing,
    tensors,
    written,
)
from harness.frameworks.watch.keras_baked import Baked
from harness.frameworks.watch.keras_changes import beside
from harness.frameworks.watch.keras_compile import current_rate_of
from harness.frameworks.watch.keras_model import flat_layers, task_of
from harness.frameworks.watch.keras_state import Start
from harness.frameworks.watch.keras_tape import disjoint
from harness.frameworks.watch.keras_trace import KEY, Recording, Stop, numpy_of, recording, watched
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

# What Keras says where no weight gets a gradient.
UNCONNECTED = "No gradients provided for any variable"
_CALLS = 60
_ROWS = 64
_LABELS = 256
_TIMES = 3
_WEIGHTS = 100_000_000


@dataclass
class Traced:
    """What one tracing of a step showed that does not change from call to call."""

    sources: list[list[int]] = field(default_factory=list)
    losses: list[tuple[Any, str | None, bool, bool]] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)
    differences: list[Any] = field(default_factory=list)
    watched: list[Any] = field(default_factory=list)
    untold: Any = None
    training: Any = None
    called: Any = None


class Steps:
    """Wraps `make_train_function` and `make_test_function`; KEY's part of a step's logs is read here."""

    def __init__(self, watch: KerasWatcher, keras: Any) -> None:
        self._watch = watch
        self._keras = keras
        self._baked = Baked(watch.session)
        self._traced: dict[str, Traced] = {"train": Traced(), "test": Traced()}
        self._last: float | None = None
        self.model: Any = None
        self.original: Any = None
        self.inner: Any = None
        self.spec: Any = None
        self.start: Start | None = None
        self.groups: set[frozenset[int]] = set()
        self._rates: list[float] = []
        self._compared = False
        self._later_losses: dict[tuple[int, int], int] = {}
        self.watched_model: Any = None
        self.taken = 0

    def attach(self) -> None:
        patches = self._watch.session.patches
        patches.replace(self._keras.Model, "make_train_function", lambda original: self._wrap_make(original, "train"))
        patches.replace(self._keras.Model, "make_test_function", lambda original: self._wrap_make(original, "test"))

    def _wrap_make(self, original: Any, phase: str) -> Any:
        session = self._watch.session

        def make(model: Any, *args: Any, **kwargs: Any) -> Any:
            slot = f"{phase}_function"
            kept = getattr(model, slot, None)
            forced = bool(args and args[0]) or kwargs.get("force")
            if not session.active or (getattr(kept, "__zoo__", False) and not forced):
                return original(model, *args, **kwargs) if not session.active else kept
            session.safely("watching a step", self._watch_step, model, phase)
            built = original(model, *args, **kwargs)
            inner = getattr(model, slot, None) or built
            function = self._around(model, inner, phase)
            setattr(model, slot, function)
            return function

        return make

    def _watch_step(self, model: Any, phase: str) -> None:
        name = f"{phase}_step"
        step = getattr(model, name)
        if hasattr(step, "__watched__"):
            return
        if phase == "train":
            self.model, self.original = model, step
        own = name in vars(model)
        before = vars(model).get(name)
        made = watched(self._keras, step, lambda record: self._tell(phase, record), lambda: self._built(model), self._watch.fault,
                       self._watch.session.sites.here, differences=phase == "train",
                       tracing=lambda: self._tracing(model, step, phase))
        object.__setattr__(model, name, made)

        def undo() -> None:
            if own:
                object.__setattr__(model, name, before)
            elif name in vars(model):
                object.__delattr__(model, name)

        self._watch.session.patches.calling(undo)

    @contextlib.contextmanager
    def _tracing(self, model: Any, step: Any, phase: str) -> Iterator[None]:
        functions = [step, *(layer.call for layer in flat_layers(model))]
        with self._watch.draws.traced(functions, "drawn_in_step", trains=phase == "train"), keras_tracing.once(model):
            yield

    def _tell(self, phase: str, record: Recording) -> None:
        """A step was traced (or, run eagerly, was executed)."""
        used = record.used()
        self._traced[phase] = Traced([[id(source) for source in group] for group in record.sources],
                                     [(seen.loss, seen.activation, seen.weighted, seen.swapped) for seen in used], list(record.models),
                                     [place for *_, place in record.differences], record.watched, record.untold, record.training,
                                     used[0].place if used else None)
        if phase == "train":
            self._watch.session.safely("numbers of a graph", self._baked.traced, self.model)
        if record.swapped is not None:
            self._watch.session.site("loss.swapped", record.swapped)
        if record.asked is not None and len({id(part) for group in record.sources for part in group}) < len(self.model.trainable_variables):
            self._watch.session.site("asked", record.asked)
        if record.gradients and record.unrecorded is not None:
            self._watch.session.site("unrecorded", record.unrecorded)
        if phase == "train":
            own, seen, script = self._watch.session.sites.is_own, self._watch.seen, self._watch.session.script
            seen.tempered = seen.tempered or self._watch.session.safely("temperatures", keras_tempered.read, record, own)
            self._watch.session.safely("a loss's graph", keras_loss_graph.look, record, seen, script)
            seen.opposed = seen.opposed or self._watch.session.safely("gradients of two losses", keras_opposed.told, record, own)
            self._watch.session.safely("two models", self._watch.players.traced, record)
        added = keras_divergence.place(record.targets[0], self._watch.session.sites.is_own) if record.divergence else None
        if added is not None:
            self._watch.session.site("loss", site(added))

    def _built(self, model: Any) -> None:
        """A forward pass has been traced, so the model's weights are there, and no step has changed them."""
        if self.start is not None or model is not self.model:
            return
        self._watch.session.safely("the first weights", self._begin, model)

    def begins(self, model: Any) -> None:
        """A loop of the script's own is about to take its first step with a model."""
        self.model = model
        if self.start is None:
            self._begin(model)

    def _begin(self, model: Any) -> None:
        import tensorflow as tf

        with tf.init_scope():
            if sum(int(np.prod(weight.shape)) for weight in model.trainable_variables) <= _WEIGHTS:
                self.start = Start(model)
                if not self.start.whole:
                    # Made while a function was traced, the weights get their values with its first run only: one step late, then.
                    self.start = None
            self._watch.models.weights(model)

    def _around(self, model: Any, inner: Any, phase: str) -> Any:
        """The function that Keras calls for every step."""
        watch, session = self._watch, self._watch.session

        def function(*args: Any, **kwargs: Any) -> Any:
            looking = session.active
            if looking and phase == "train":
                if self.inner is not inner:
                    self.inner, self.spec = inner, getattr(args[0], "element_spec", None) if args else None
                session.safely("a step", self._prepare, model)
            elif looking:
                watch.evaluations.about_to_test()
            try:
                logs = inner(*args, **kwargs)
            except ValueError as error:
                if looking and phase == "train" and UNCONNECTED in str(error):
                    session.safely("a cut", self._find_cut, model, *args)
                raise
            seen = None
            if isinstance(logs, dict) and KEY in logs:
                logs = dict(logs)
                seen = logs.pop(KEY)
            if looking and phase == "train":
                session.safely("numbers of a graph", self._baked.stepped, model)
            if looking and seen is not None:
                if phase == "train":
                    session.safely("a step", self._stepped, model, seen)
                    watch.stepped(model)
                else:
                    session.safely("an evaluation", watch.evaluations.tested, seen, self._traced["test"].training)
            return logs

        function.__zoo__ = True  # type: ignore[attr-defined]
        return function

    def _find_cut(self, model: Any, batches: Any) -> None:
        """No weight is connected with the loss: run a batch op by op, as far as its loss, to where the way ends."""
        def forward() -> None:
            with recording(self._keras, evaluating=True, stop=True), contextlib.suppress(Stop):
                self.original(next(batches))

        place = keras_gradients.cut(forward, model.trainable_variables, self._watch.session.sites.place)
        self._watch.session.noted("cut", place)

    def _prepare(self, model: Any) -> None:
        watch = self._watch
        if self.model is not model:
            step = getattr(getattr(model, "train_step", None), "__watched__", None)
            self.model, self.original, self.start = model, step, None
        watch.session.reach("batch")
        if watch.seen.model is None:
            watch.models.describe(model)
        if self.start is None and keras_tracing.is_complete(model):
            self._begin(model)
        if watch.seen.optimizer is None and getattr(model, "optimizer", None) is not None:
            watch.seen.optimizer = watch.compiles.optimizer(model, model.optimizer)
            facts = watch.seen.optimizer
            facts.planned_steps, facts.planned_peak, facts.worth = watch.fits.planned or (None, None, None)

    def _stepped(self, model: Any, seen: dict[str, Any]) -> None:
        watch, traced = self._watch, self._traced["train"]
        for stage in ("forward", "loss", "backward", "step"):
            watch.session.reach(stage)
        watch.session.training_begins()
        self.taken += 1
        targets = [float(numpy_of(target)) for target in seen["targets"]]
        watched = watch.seen.further is None
        watch.evaluations.trained(seen if watched else None)
        if not watch.in_full:
            self._later(model, seen, traced)
            if not watch.patience.goes_on:
                return
            if all(math.isfinite(target) for target in targets):
                watch.births.passed(model, seen["data"])
                return
        first = not watch.seen.steps
        number, self.watched_model = self.taken, model
        self._mode(traced)
        columns, labels = watch.data.came(seen["data"])
        self.given(model, columns)
        calls = self._losses(model, seen, traced, number)
        watch.terms.stepped(number, calls)
        watch.session.safely("weights of rows", watch.unweighed.stepped, model, seen["data"], targets, calls, traced)
        self._differences(seen, traced, number)
        if seen["divergence"] and keras_divergence.is_due(number):
            watch.session.safely("a divergence", self._divergence, seen["divergence"], number)
        norms = [numpy_of(group) for group in seen["norms"]]
        for ids in traced.sources:
            self.groups.add(frozenset(ids))
        scale = watch.scaled.stepped(model)
        loss = sum(targets) / scale if targets else (calls[-1].value if calls else None)
        now = time.perf_counter()
        squares = [float(np.square(group[group >= 0].astype(np.float64)).sum()) if np.isfinite(group).all() else math.nan
                   for group in norms]
        optimizer = getattr(model, "optimizer", None)
        rate = current_rate_of(getattr(optimizer, "inner_optimizer", optimizer)) if optimizer else None
        if rate is not None:
            self._rates.append(rate)
        watch.seen.steps.append(StepFacts(
            step=number, loss=loss, backwards=len(targets), learning_rate=rate, labels=(labels or [])[:_LABELS] or None,
            gradient_norm=sum(squares) ** 0.5 / scale if squares else None, seconds=None if self._last is None else now - self._last))
        self._last = now
        if self.start is not None and not self._compared:
            self._compared = True
            watch.models.stepped(self.start)
        if first:
            watch.session.safely("hidden variables", watch.models.followed, model, traced.watched)
            watch.session.safely("labels of a model's own loss", watch.models.labelled, model, seen["data"])
            for ids, group in zip(traced.sources, norms, strict=False):
                watch.models.gradients(ids, [float(norm) / (scale if norm >= 0 else 1) for norm in group])
            if watch.seen.optimizer is not None:
                watch.seen.optimizer.held, watch.seen.optimizer.foreign = len(model.trainable_variables), 0
            self.describe(calls)
        watch.seen.models_stepped = max(watch.seen.models_stepped, disjoint(self.groups), 1)
        watch.births.look(model, seen["data"], columns, loss, calls)
        if self.start is None:
            self._begin(model)
        watch.probes.offer(seen["data"], labels, scale)

    def given(self, model: Any, columns: dict[str, Any]) -> None:
        """The rows of a batch that was trained on."""
        watch, first = self._watch, list(columns.values())[:1]
        watch.session.safely("a scale", watch.splits.trained, model, first)
        watch.session.safely("rows that are trained on", watch.shared.trained, model, first)
        watch.session.rows_trained(first, beside=beside(columns))
        watch.session.safely("pictures that are trained on", watch.mirrored.trained, first, columns)
        watch.session.safely("mixed rows", watch.mixed_rows.trained, next(iter(first), None), next(reversed(columns.values()), None))
        if watch.fits.running:
            watch.session.safely("padding", watch.asked.trained, model, columns)

    def _mode(self, traced: Traced) -> None:
        facts = self._watch.seen.evaluation
        facts.training_forwards += 1
        if traced.untold is not None:
            facts.training_in_eval_mode += 1  # unless its layers know better, see `Models.ended`
            self._watch.session.site("untold", traced.untold)

    def _losses(self, model: Any, seen: dict[str, Any], traced: Traced, number: int) -> list[LossCall]:
        """Facts of the step's loss calls."""
        watch, found = self._watch, []
        for (loss, activation, weighted, swapped), parts in zip(traced.losses, seen["losses"], strict=False):
            call = self._call(model, loss, activation, parts, number)
            call.swapped = swapped
            call.weighted = watch.fits.weighted or (weighted and call.name in ("sparse_categorical", "categorical", "bce"))
            true, rows = (numpy_of(parts.get(name)) for name in ("true", "rows"))
            if isinstance(rows, np.ndarray) and rows.ndim and (number == 1 or not np.isfinite(rows).all()):
                from harness.frameworks.watch.keras_data import class_ids

                each = rows.reshape(len(rows), -1).mean(1)[:_ROWS]
                call.row_losses = [float(value) for value in each]
                call.row_labels = (class_ids(true) or [])[:_ROWS]
                call.asked = tensors.class_counts(true) if call.takes_class_ids else {}
            if call.site is not None:
                watch.session.site("loss", call.site)
            found.append(call)
            if activation is not None and watch.seen.model is not None and not watch.seen.model.final_activation:
                watch.seen.model.final_activation = activation
            if len(watch.seen.loss_calls) < _CALLS:
                watch.seen.loss_calls.append(call)
        return found

    def _call(self, model: Any, loss: Any, activation: str | None, parts: dict[str, Any], number: int) -> LossCall:
        call: LossCall = self._watch.compiles.loss(model, loss, number)
        call.inputs, call.target = (tensors.facts(numpy_of(parts.get(name))) for name in ("pred", "true"))
        if call.name == "other" and not call.lined_up:
            call.lined_up = bool(self._watch.session.safely("shapes of a loss", keras_broadcast.lines_up, loss, *(
                numpy_of(parts.get(name)) for name in ("true", "pred"))))
        call.activation, call.softmaxed_in_model = activation, None if activation is None else activation in ("softmax", "sigmoid")
        value = numpy_of(parts.get("value"))
        call.value = float(np.mean(value)) if value is not None and np.size(value) else None
        return call

    def _later(self, model: Any, seen: dict[str, Any], traced: Traced) -> None:
        """What the losses of a model are given that is fitted after another was watched."""
        calls, losses = self._watch.seen.later_calls, self._later_losses
        for (loss, activation, *_), parts in zip(traced.losses, seen["losses"], strict=False):
            times = losses.setdefault((id(model), id(loss)), 0)
            if model is not self.watched_model and times < _TIMES and len(calls) < _CALLS:
                losses[id(model), id(loss)] += 1
                calls.append(self._call(model, loss, activation, parts, self.taken))

    def _differences(self, seen: dict[str, Any], traced: Traced, number: int) -> None:
        """Losses that a step makes itself: what is subtracted from what."""
        for (true, pred), place in zip(seen["differences"], traced.differences, strict=False):
            target, output = numpy_of(true), numpy_of(pred)
            if np.size(target) == np.size(output) > 1 and len(self._watch.seen.loss_calls) < _CALLS:
                self._watch.seen.loss_calls.append(
                    LossCall(name="other", inputs=tensors.facts(output), target=tensors.facts(target), step=number, site=place))

    def _divergence(self, read: dict[str, Any], number: int) -> None:
        """What a variational autoencoder's divergence weighs."""
        found = keras_divergence.measure({name: np.asarray(numpy_of(value)) for name, value in read.items()}, number)
        if found is not None:
            self._watch.seen.divergence.append(found)

    def describe(self, calls: list[LossCall]) -> None:
        """What the first step's losses say of the model's output and of the task."""
        seen, model = self._watch.seen, self._watch.seen.model
        if model is None or not calls:
            return
        model.output = calls[-1].inputs
        shape = model.output.shape if model.output is not None else ()
        for name in {call.activation for call in calls if call.activation} if len(calls) > 1 else ():
            self._watch.session.noted(f"activation {name}", written.spelt(name, self._watch.session.script))
        kind = calls[-1].target.dtype if calls[-1].target is not None else ""
        if kind.startswith("int"):
            self._watch.session.noted(f"spelt {kind}", written.spelt(kind, self._watch.session.script))
        if shape and len(calls) == 1:
            model.final_units = int(shape[-1]) if len(shape) > 1 else 1
        seen.task, seen.classes = task_of(calls[-1], model)

    def finish(self) -> None:
        """Whether a schedule or a callback changed the rate."""
        optimizer = self._watch.seen.optimizer
        if optimizer is not None and len(set(self._rates)) > 1:
            optimizer.scheduled = True
        self._watch.session.safely("numbers of a graph", self._baked.finish)
        self._watch.models.ended(self.start)
