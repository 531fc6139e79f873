"""Keras' `fit` and `train_on_batch`: what is given to them, what is trained when, and when another training begins."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import LaterFacts
from harness.frameworks.watch import compounding, monitors, overrides, parsed, written
from harness.frameworks.watch.keras_compile import current_rate_of, planned, worth
from harness.frameworks.watch.keras_model import name_of
from harness.frameworks.watch.sites import Place, site
from harness.frameworks.watch.weighing import Weighing

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_PATIENCE = 4
_SOME = 10  # steps that a training has at least


class FitCalls:
    """Told of every call of `fit` and `train_on_batch`, of both packages."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch, self._session = watch, watch.session
        self.running = 0
        self.weighted = False  # by class
        self.planned: tuple[int, float | None, float | None] | None = None
        self._scheduled: tuple[Any, float, int] | None = None
        self.arrays: tuple[Any, Any] | None = None  # what the first `fit` was given, where it is rows and a number for each
        self._weighing = Weighing(watch.session)
        self._unwatched = 0
        self._fitted: dict[int, tuple[Any, set[int]]] = {}

    def attach(self, keras: Any) -> None:
        """Hook one of the packages."""
        name, replace = keras.__name__, self._session.patches.replace
        replace(keras.Model, "fit", lambda original: self._wrap_fit(original, name))
        replace(keras.Model, "train_on_batch", lambda original: self._wrap_single(original, name))

    def finish(self) -> None:
        """What a schedule made of the rate."""
        if self._scheduled:
            compounding.of_keras(self._session, *self._scheduled)

    def _wrap_fit(self, original: Any, name: str) -> Any:
        session = self._session
        signature = inspect.signature(original)

        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            if not session.active:
                return original(model, *args, **kwargs)
            self._watch.use(name)
            session.safely("fit", self._fit_begins, signature, model, args, kwargs)
            session.safely("fit", self._frozen_later, model)
            session.safely("fit", self._thawed_later, model)
            if session.safely("fit", self._repeats, model):
                self._watch.repeated()
            session.safely("fit", self._another, model, 0)
            session.safely("a fold", session.folds.trains, model, lambda: [part.numpy() for part in model.trainable_variables],
                           lambda: self._watch.compiles.stack_of(model))
            if not self._watch.leads_on:
                self._watch.evaluations.may_end(session.budget.further_seconds)
            self.running += 1
            try:
                made = original(model, *args, **kwargs)
            except Exception:
                session.safely("the batch", self._watch.data.broken)
                raise
            finally:
                self.running -= 1
                session.safely("callbacks", self._followed, signature, model, args, kwargs)
                session.safely("fit", self._built_for, model)
            if session.open:
                session.settle(last=True)  # no further steps of this training will come
            return made

        return fit

    @property
    def passes(self) -> int:
        """How many epochs the first `fit` was asked for; 0 where the script has a loop of its own around its steps."""
        return self._scheduled[2] if self._scheduled is not None else 0

    def _followed(self, signature: inspect.Signature, model: Any, args: Any, kwargs: Any) -> None:
        history = getattr(getattr(model, "history", None), "history", None) or {}
        callbacks = signature.bind(model, *args, **kwargs).arguments.get("callbacks")
        monitors.of_keras(self._session, callbacks, history)
        overrides.look(self._session, [model, *(callbacks if isinstance(callbacks, list | tuple) else [callbacks])])

    def _fit_begins(self, signature: inspect.Signature, model: Any, args: Any, kwargs: Any) -> None:
        given = signature.bind(model, *args, **kwargs).arguments
        self._watch.begins(model)
        self._session.site("fit")
        self.weighted = given.get("class_weight") is not None
        self._session.safely("the weights of classes", self._weighing.fitted, given.get("class_weight"))
        self._watch.data.begins(given)
        pair = given.get("x"), given.get("y")
        self.arrays = self.arrays or (pair if all(hasattr(part, "shape") for part in pair) else None)
        if not self._watch.seen.steps and not written.repeated(self._session.sites.place()):
            self._session.safely("the schedule", self._plan, model, given)

    def _plan(self, model: Any, given: dict[str, Any]) -> None:
        """What a schedule makes of the rate over the steps that `fit` will take."""
        optimizer, batches = getattr(model, "optimizer", None), given.get("steps_per_epoch")
        loader = self._watch.data.current
        batches = batches or (loader.facts.batches if loader is not None else None)
        epochs = int(given.get("epochs", 1))
        steps = epochs * (batches or 0)
        rate = current_rate_of(getattr(optimizer, "inner_optimizer", optimizer)) if optimizer is not None else None
        self._scheduled = self._scheduled or (given.get("callbacks"), rate or 0.0, epochs)
        if optimizer is not None and not int(optimizer.iterations):
            inner = getattr(optimizer, "inner_optimizer", optimizer)
            self.planned = steps, planned(inner, steps), worth(inner, steps)

    def _frozen_later(self, model: Any) -> None:
        """A model that is fitted after another was watched: whether anything in it can learn needs no step to be seen."""
        watch = self._watch
        if watch.seen.steps and model is not watch.steps.model and model.built and model.weights and not model.trainable_variables:
            sites = self._session.sites
            watch.seen.frozen_later = site(written.assigned("trainable", self._session.script, sites)) or sites.here()

    def _thawed_later(self, model: Any) -> None:
        """The step that `compile` led to keeps the weights that it was built for: others that are let learn since then do not."""
        stepped = self._built_for(model)
        left = [weight for weight in model.trainable_variables if id(weight) not in stepped] if stepped else []
        if left:
            here = self._session.sites.here()
            if here is not None and here.function != "<module>":  # one line may serve several trainings
                here = site(_thaws(self._session.script, here.function)) or here
            self._watch.seen.thawed = LaterFacts(step=1, held=len(stepped), foreign=0, lacking=len(left),
                                                 left=[name_of(one) for one in left[:6]], site=here)

    def _built_for(self, model: Any) -> set[int]:
        """The weights that could be trained when a model was first fitted as it is compiled now: of one that no batch has built yet, those
        at the end of that."""
        compiled = self._watch.compiles.of(model)
        if id(compiled) not in self._fitted and model.built:
            self._fitted[id(compiled)] = compiled, {id(weight) for weight in model.trainable_variables}
        return self._fitted.get(id(compiled), (None, set()))[1]

    def _another(self, model: Any, steps: int) -> None:
        """A `fit` (no `steps`), or one step by itself: it may be another training."""
        optimizer = getattr(model, "optimizer", None)
        if optimizer is not None:
            self._session.trainings.stepped(optimizer, lambda: _kind(model), whole=not steps)

    def _repeats(self, model: Any) -> bool:
        optimizer = getattr(model, "optimizer", None)
        enough = self._watch.steps.taken >= _SOME
        return optimizer is not None and enough and self._session.trainings.repeats(optimizer, lambda: _kind(model))

    def _wrap_single(self, original: Any, name: str) -> Any:
        session = self._session

        def train_on_batch(model: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active:
                self._watch.use(name)
                session.safely("train_on_batch", self._watch.begins, model)
                session.safely("train_on_batch", self._another, model, 1)
                session.site("fit")
                if self._watch.data.current is None:
                    session.safely("train_on_batch", self._watch.data.begins, {"x": iter(())})
                if not self._watch.leads_on:
                    self._watch.evaluations.may_end(0.0)
                    self._unwatched += 1
                    if self._unwatched > _PATIENCE * session.budget.steps:
                        session.enough("enough steps")  # a loop of the script's own cannot be asked to stop
            self.running += 1
            try:
                return original(model, *args, **kwargs)
            finally:
                self.running -= 1

        return train_on_batch


def _thaws(script: Path, function: str | None) -> Place | None:
    """The only line that lets something learn again, where it stands outside of the function that trains."""
    tree = parsed.tree(str(script))
    freed = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and getattr(node.value, "value", None) is True
             and any(isinstance(target, ast.Attribute) and target.attr == "trainable" for target in node.targets)]
    trains = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    if len(freed) != 1 or any(node is freed[0] for part in trains for node in ast.walk(part)):
        return None
    return str(script), freed[0].lineno, "<module>"


def _kind(model: Any) -> tuple[type, list[tuple[int, ...]]]:
    """What a training trains: a class of model, and the shapes of its weights, where its first step need not build them."""
    return type(model), [tuple(weight.shape) for weight in (model.trainable_variables if model.built else [])]
