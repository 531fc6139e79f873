"""Evaluations of Keras models: `evaluate`, `predict`, and metrics of other packages."""

from __future__ import annotations

import math
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from harness.checks.metric_facts import DecisionFacts, MetricFacts
from harness.frameworks.watch import keras_opposed, relations, torch_evaluation
from harness.frameworks.watch.keras_changes import beside
from harness.frameworks.watch.keras_classes import classes_of
from harness.frameworks.watch.keras_data import class_ids, columns_of
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.keras_watch import KerasWatcher

_METRICS = 20
_BATCHES = 4
_HALF = 0.5
_CALLED = 400  # calls outside of `fit` that are looked at: an agent asks at every turn


class Evaluations:
    """Wraps `evaluate` and `predict`. Test steps are told by the function that Keras builds for them."""

    def __init__(self, watch: KerasWatcher, keras: Any) -> None:
        self._watch = watch
        self._keras = keras
        self._seen = watch.seen.evaluation
        self._predicted: Counter[int] = Counter()
        self._referenced: Counter[int] = Counter()
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._after_training = False
        self._called = 0
        self._ends_at: float | None = None

    def attach(self) -> None:
        session = self._watch.session
        session.patches.replace(self._keras.Model, "evaluate", self._wrap_evaluate)
        session.patches.replace(self._keras.Model, "predict", self._wrap_predict)
        # Where PyTorch is imported as well, its watcher sees these calls, which are the same for both.
        calls = torch_evaluation.Evaluations(cast("Any", self._watch))
        session.when_imported("evaluate.module", lambda module: None if "torch" in sys.modules else calls._hook_evaluate(module))
        session.when_imported("sklearn.metrics", lambda module: None if "torch" in sys.modules else calls._hook_sklearn(module))

    def _wrap_evaluate(self, original: Any) -> Any:
        session = self._watch.session

        def evaluate(model: Any, *args: Any, **kwargs: Any) -> Any:
            if not session.active:
                return original(model, *args, **kwargs)
            session.safely("evaluate", self._begin, model)
            self._watch.drawn.given(model, args[0] if args else kwargs.get("x"))
            self._predicted, self._referenced, self._pairs = Counter(), Counter(), Counter()
            result = original(model, *args, **kwargs)
            session.safely("evaluate", self._end, model, result)
            return result

        return evaluate

    def _begin(self, model: Any) -> None:
        self._watch.shared.over()
        self._watch.averages.ran(model)
        place = self._watch.session.sites.here()
        if self._seen.site is None:
            self._seen.site = place
        if place is not None and ".fit(" not in place.source:
            self._watch.session.site("evaluation", place, last=True)
        self._after_training = bool(self._watch.seen.steps)
        if self._watch.seen.steps:
            self._watch.session.reach("evaluation")

    def _end(self, model: Any, result: Any) -> None:
        if isinstance(result, dict):
            values = result
        elif hasattr(model, "get_metrics_result"):  # Keras 3 puts all compiled metrics under one name in `metrics_names`
            values = {name: np.asarray(value) for name, value in model.get_metrics_result().items()}
        else:
            values = dict(zip(model.metrics_names, result if isinstance(result, list | tuple) else [result], strict=False))
        facts = MetricFacts(name="evaluate", site=self._seen.site, predicted_counts=_texts(self._predicted),
                            reference_counts=_texts(self._referenced), pairs=torch_evaluation.paired(self._pairs),
                            values={("accuracy" if name == "acc" else str(name)): float(value) for name, value in values.items()
                                    if np.ndim(value) == 0})
        if len(self._seen.metrics) < _METRICS and self._watch.seen.further is None:
            self._seen.metrics.append(facts)

    def about_to_test(self) -> None:
        """A test step begins. Raises `Enough` where the watching has taken all its time."""
        session = self._watch.session
        if session.watched_seconds > 2 * session.budget.seconds:
            session.enough("time")

    def tested(self, seen: dict[str, Any], training: Site | None) -> None:
        """A test step is over: count what it predicted. `training`: where it tells its model that it trains."""
        watch = self._watch
        self._seen.forwards += 1
        if training is not None and watch.seen.model is not None and watch.seen.model.stochastic:
            self._seen.in_training_mode += 1
            watch.session.site("train_mode", training)
        if len(watch.seen.eval_batches) < _BATCHES:
            watch.seen.eval_batches.append(watch.data.describe(columns_of(seen["data"])))
        if len(seen["losses"]) != 1 or watch.seen.further is not None:  # else its answers are of a training that is not watched
            return
        self._scored(seen["losses"][0].get("pred"))
        labels, found = self._classes(seen["losses"][0])
        if labels is not None and found is not None and len(labels) == len(found):
            self._predicted.update(found)
            self._referenced.update(labels)
            self._pairs.update(zip(labels, found, strict=True))
        watch.relations.held(self.pair(seen), self.inputs(seen))
        watch.session.safely("a scale", self._scaled, watch.steps.model, seen["data"])

    def _scaled(self, model: Any, data: Any) -> None:
        self.given(model, columns_of(data))

    def called(self, model: Any, args: tuple[Any, ...], made: Any) -> None:
        """The model that `fit` has trained is called by itself, outside of it."""
        import tensorflow as tf

        self._called += 1
        self._watch.averages.ran(model)
        if self._called > _CALLED:
            return
        self.given(model, {str(number): value for number, value in enumerate(tf.nest.flatten(args[:1]))})
        self._watch.session.answered.gave(tf.nest.map_structure(numpy_of, made))

    def given(self, model: Any, columns: dict[str, Any]) -> None:
        """The rows of a batch that a model is asked about."""
        given = list(columns.values())[:1]
        if self._watch.splits.held(model, given):
            self._watch.session.site("other_scale")
        self._watch.shared.held(model, given)
        self._watch.session.rows_held(given, beside=beside(columns))
        self._watch.mirrored.held(given, columns)

    def _scored(self, outputs: Any) -> None:
        """Count the raw outputs of a binary loss that applies the sigmoid itself."""
        call = self._watch.seen.loss_calls[-1] if self._watch.seen.loss_calls else None
        values = np.ravel(numpy_of(outputs)) if call is not None and call.name == "bce" and call.from_logits else np.zeros(0)
        values = values[np.isfinite(values)] if values.dtype.kind == "f" else np.zeros(0)
        if not values.size:
            return
        facts = self._seen.scores = self._seen.scores or DecisionFacts(how="scores", minimum=math.inf, maximum=-math.inf)
        facts.values += values.size
        facts.minimum, facts.maximum = min(facts.minimum, float(values.min())), max(facts.maximum, float(values.max()))
        facts.lost += int(((values > 0) & (values <= _HALF)).sum())
        facts.odd += int(((values.round() < 0) | (values.round() > 1)).sum())

    def _classes(self, parts: dict[str, Any]) -> tuple[list[int] | None, list[int] | None]:
        """The class ids that a loss was given, wanted and answered."""
        call = self._watch.seen.loss_calls[-1] if self._watch.seen.loss_calls else None
        found = classes_of(numpy_of(parts.get("pred")), call.name if call else "", logits=bool(call and call.from_logits))
        return class_ids(numpy_of(parts.get("true")), limit=1 << 20), found

    def trained(self, seen: dict[str, Any] | None) -> None:
        """A training step is over; None for one that is watched no more."""
        watch = self._watch
        watch.told.training_resumes()
        if seen is None:
            watch.relations.trained(None)
            return
        pair, given = watch.session.safely("outputs and targets", self.pair, seen), self.inputs(seen)
        watch.relations.trained(pair, given)
        if isinstance(seen["data"], tuple):
            own = given[:len(given) - sum(len(columns_of((part,))) for part in seen["data"][1:] if part is not None)]
            watch.session.safely("columns", watch.session.emptied.trained, own, None if pair is None else pair[1])
        watch.session.safely("two models", watch.players.stepped, seen.get("rivals", {}))
        keras_opposed.took(watch.seen.opposed, numpy_of(seen.get("opposed", -2.0)))

    def pair(self, seen: dict[str, Any]) -> relations.Pair | None:
        """Answers of a step beside what was wanted; None where its loss is not the only one, or neither a number nor a class a row."""
        parts = seen["losses"][0] if len(seen["losses"]) == 1 else {}
        if self._watch.seen.task == "regression" and {"true", "pred"} <= set(parts):
            return relations.numbers(np.asarray(numpy_of(parts["pred"])), np.asarray(numpy_of(parts["true"])))
        labels, found = self._classes(parts) if parts else (None, None)
        return relations.classes(found, labels)

    @staticmethod
    def inputs(seen: dict[str, Any]) -> list[Any]:
        """What the model of a step was given, as arrays."""
        return [np.asarray(numpy_of(value)) for value in columns_of(seen["data"]).values()]

    def _wrap_predict(self, original: Any) -> Any:
        session = self._watch.session

        def predict(model: Any, *args: Any, **kwargs: Any) -> Any:
            if not session.active or not self._watch.seen.steps:
                return original(model, *args, **kwargs)
            session.safely("predict", self._begin, model)
            columns = session.safely("columns", columns_of, args[0] if args else kwargs.get("x")) or {}
            given = [*columns.values()][:1]
            if session.safely("a scale", self._watch.splits.held, model, given):
                session.site("other_scale")
            session.safely("rows of an evaluation", self._watch.shared.held, model, given)
            session.rows_held(given, beside=beside(columns))
            self._seen.forwards += 1
            made = original(model, *args, **kwargs)
            session.answered.trains()
            session.safely("answers", session.answered.gave, made)
            session.safely("predict", self._watch.passes.asked, args[0] if args else kwargs.get("x"), session.sites.place(), made)
            return made

        return predict

    def may_end(self, further: float) -> None:
        """All steps were watched and training begins again. Raises `Enough` so many seconds after an evaluation has been seen."""
        session = self._watch.session
        if self._after_training and self._ends_at is None:
            self._ends_at = session.watched_seconds + further
        if self._watch.seen.thawed is not None or (self._ends_at is not None and session.watched_seconds >= self._ends_at):
            session.enough("enough steps")

    def finish(self) -> None:
        """Nothing is open."""


def _texts(counted: Counter[int]) -> dict[str, int]:
    return {str(label): number for label, number in sorted(counted.items())}
