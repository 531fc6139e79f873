"""Evaluations: forwards that no backward pass follows, and metric calls."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.metric_facts import MetricFacts
from harness.frameworks.watch import cut_at_half, ranks, tensors, torch_batches, torch_relations, trees
from harness.frameworks.watch.samples import Samples
from harness.frameworks.watch.sites import Place, kept, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_METRICS = 20
_INPUTS = 500
_SCORES = ("accuracy_score", "balanced_accuracy_score", "f1_score", "precision_score", "recall_score", "roc_auc_score", "matthews_corrcoef",
           "average_precision_score", "log_loss", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error",
           "median_absolute_error", "mean_absolute_percentage_error", "explained_variance_score", "r2_score", "cohen_kappa_score",
           "confusion_matrix", "classification_report")


class Evaluations:
    """Wraps metric calls; forwards are told by the watcher."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._seen = watch.seen.evaluation
        self._predicted: Counter[int] = Counter()
        self._referenced: Counter[int] = Counter()
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._rows = 0
        self._training_mode = False
        self._inside = False
        self.listening = False  # also while probes run
        self._evaluated_after_training = False
        self._ends_at: float | None = None
        self._trained: set[tuple[Any, ...]] = set()
        self._samples = Samples()
        self._training_frames: set[Place] = set()
        self._first: Any = None  # model that was trained
        self._awake = False  # it has been, in training mode
        self._resting = [0, 0]  # batches in evaluation mode that it was put into for them: since the last step, and before
        self._unstepped: dict[int, tuple[Any, int]] = {}  # by model: backward passes in evaluation mode since the last step

    def attach(self) -> None:
        session = self._watch.session
        session.when_imported("evaluate.module", self._hook_evaluate)
        session.when_imported("sklearn.metrics", self._hook_sklearn)
        session.when_imported("numpy", lambda module: session.patches.replace(module, "corrcoef", self._wrap_correlation))

    @property
    def over(self) -> bool:
        """An evaluation has been seen after all steps: those that follow come from training that was cut short."""
        return self._ends_at is not None

    # Forwards

    def trained(self, calls: list[RootCall]) -> None:
        """Forwards that a backward pass follows."""
        self._watch.session.answered.trains()
        if self.over:
            return
        self._samples.over()
        for call in calls:
            self._seen.training_forwards += 1
            asleep = not call.training and _asleep(call.module)
            if self._first is None:
                self._first, self._awake = call.module, call.module in self._watch.seasoned
            put = call.module is self._first and self._put_so(call)
            # A later model that no evaluation left in this mode was put into it for its training.
            left = not put and (call.module is self._first or self._seen.forwards > self._watch.calls.evaluated_at)
            # A loss that goes backward in an evaluation, and that no step follows before training goes on, trains nothing.
            before = 0 if call.training else self._unstepped.get(id(call.module), (None, 0))[1]
            self._unstepped[id(call.module)] = call.module, before + (asleep and left)
            self._resting[0] = 0 if call.training else self._resting[0] + (asleep and put)
            if call.training and call.module is self._first:
                self._awake = True
                # In turns with training mode it is an evaluation that trains.
                self._seen.training_in_eval_mode, self._resting[1] = self._seen.training_in_eval_mode + self._resting[1], 0
            self._training_frames.update(call.stack)
            if call.loader is None and len(self._trained) < _INPUTS:
                self._trained.add(_inputs(call))

    def _put_so(self, call: RootCall) -> bool:
        """Whether a model that has trained in training mode was put into the other one for these batches: `eval()` stands before them, in
        the same function, and nothing was evaluated in between. A later stage of training keeps statistics of its norms that way."""
        switched, place = self._watch.calls.put_into_evaluation, call.place
        if self._seen.forwards > self._watch.calls.evaluated_at:
            return False
        return self._awake and switched is not None and place is not None and (
            (switched[0], switched[2]) == (place[0], place[2]) and switched[1] < place[1])

    def stepped(self, weights: Iterable[Any]) -> None:
        """An optimizer has taken a step with these weights: what went backward since the last one was training, of the models that have
        some of them. A teacher answers in evaluation mode, be it with gradients."""
        held = {id(weight) for weight in weights}
        self._seen.training_in_eval_mode += sum(
            count for module, count in self._unstepped.values() if count and any(id(part) in held for part in module.parameters()))
        self._resting = [0, sum(self._resting)]
        self._unstepped = {}

    def forward(self, call: RootCall) -> None:
        """A forward that no backward pass follows."""
        watch = self._watch
        if not watch.steps.backwards and not watch.evaluating and call.grad:
            return  # before any training it may be a trial
        held_out = bool(watch.evaluating or self._held_out(call))
        if held_out and watch.seen.further is None:  # else its answers are of a training that is not watched
            given = trees.leaves([call.args, call.kwargs], tensors.is_tensor)
            if watch.session.safely("a scale", watch.splits.held, call.module, given):
                watch.session.noted("other_scale", call.place)
            watch.session.safely("rows of an evaluation", watch.shared.held, call.module, given, call.loader)
            watch.session.rows_held(given)
            watch.session.safely("parts of a batch", watch.handed.held, call)
            watch.session.safely("pictures of an evaluation", watch.mirrored.held, given, torch_batches.columns_of(call.batch))
            watch.relations.held(watch.session.safely("outputs and targets", torch_relations.pair, watch, call), given)
            if call.loader is not None and watch.relations.loader is None:
                watch.relations.loader = kept(call.loader.stack) or call.loader.facts.site
        if not call.grad and (output := watch.losses.output_of([call])) is not None and tensors.readable(output):
            watch.session.safely("answers", watch.session.answered.gave, tensors.array(output))
        if self.over:
            return
        stochastic = watch.seen.model is not None and watch.seen.model.stochastic
        if self._seen.site is None:
            # A helper that training and evaluation share is no place to mend one of them.
            own = (place for place in call.stack if place not in self._training_frames)
            self._seen.site = site(next(own, call.place))
            if self._seen.site is not None:
                watch.session.site("evaluation", self._seen.site)
        self._seen.forwards += 1
        self._seen.with_gradients += call.grad
        trains = call.training and stochastic and _draws(call.module)
        switched = watch.calls.put_into_training
        if trains and switched is not None and switched[2] != "<module>" and switched[2] == getattr(self._seen.site, "function", None):
            watch.session.site("train_mode", site(switched))  # in the evaluation's own function, where the other mode was meant
        self._seen.in_training_mode += bool(trains and held_out)
        self._seen.sampled += self._samples.asked(trees.leaves([call.args, call.kwargs], tensors.is_tensor)) if trains and held_out else 0
        self._training_mode = self._training_mode or trains
        self._evaluated_after_training = bool(watch.seen.steps)
        watch.session.reach("evaluation")
        self._count(call)
        alone = held_out and call.loader is None and watch.seen.further is None
        asked = trees.leaves([call.args, call.kwargs], tensors.is_tensor) if alone else None
        watch.decisions.offered(watch.losses.output_of([call]), asked)
        if held_out:
            watch.session.safely("answers to a batch", watch.unlooked.answered, call)
            watch.drawn.answered(call)

    def _held_out(self, call: RootCall) -> bool:
        """Whether a forward works on other rows than training does. Without loaders the inputs themselves must tell."""
        if call.loader is not None:
            return bool(call.loader.role != "train")
        roots = self._watch.roots
        if call.grad or not any(call.module is root for root in roots):
            return False
        own = {id(part) for part in call.module.modules()} if len(roots) > 1 else {id(call.module)}
        return all(id(root) in own for root in roots) and _inputs(call) not in self._trained  # the others are parts of it

    def _count(self, call: RootCall) -> None:
        predicted = self.classes_of(call) if self._watch.seen.further is None else None
        if predicted is None:
            return
        self._predicted.update(predicted)
        self._rows += len(predicted)
        if call.labels is not None and len(call.labels) == len(predicted):
            self._referenced.update(call.labels)
            self._pairs.update(zip(call.labels, predicted, strict=True))

    def classes_of(self, call: RootCall) -> list[int] | None:
        """The class of each row that a call's output stands for; None where that is not known, or on another device."""
        output = self._watch.losses.output_of([call])
        return self._classes(output) if output is not None and tensors.readable(output) else None

    def _classes(self, output: Any) -> list[int] | None:
        """The class of each row: of the largest score, or above the threshold where a binary loss goes with one score a row."""
        plain = output.detach()
        if plain.dim() == 2 and 2 <= plain.shape[1] <= 1000:
            return [int(found) for found in plain.argmax(-1).tolist()]
        binary = [call.name for call in self._watch.seen.loss_calls if call.name in ("bce", "bce_with_logits")]
        if binary and plain.dim() and plain.numel() == len(plain):
            return [int(found) for found in (plain.reshape(-1) > (0.5 if binary[-1] == "bce" else 0.0)).tolist()]
        return None

    def training_resumes(self) -> None:
        """A loss goes backward: an evaluation, if there was one, is over."""
        self._flush()
        self._watch.told.training_resumes()
        self._watch.decisions.over()
        self._watch.session.safely("answers to a batch", self._watch.unlooked.over)

    def may_end(self) -> None:
        """All steps were watched and a training pass begins again. Raises `Enough` some time after an evaluation has been seen."""
        session = self._watch.session
        if self._evaluated_after_training and not self.over:
            self._flush()
            self._ends_at = session.watched_seconds + session.budget.further_seconds
        if self._watch.seen.later is not None or (self._ends_at is not None and session.watched_seconds > self._ends_at):
            session.enough("enough steps")

    def _flush(self) -> None:
        if self._rows and len(self._seen.metrics) < _METRICS:
            self._seen.metrics.append(MetricFacts(
                name="forward", predicted_counts=_texts(self._predicted), reference_counts=_texts(self._referenced),
                pairs=paired(self._pairs), site=self._seen.site))
        self._predicted, self._referenced, self._pairs, self._rows = Counter(), Counter(), Counter(), 0

    # Metrics

    def _hook_evaluate(self, module: Any) -> None:
        self._watch.session.patches.replace(module.EvaluationModule, "compute", self._wrap_compute)

    def _hook_sklearn(self, module: Any) -> None:
        for name in _SCORES:
            if hasattr(module, name):
                self._watch.session.patches.replace(module, name, self._wrap_score)

    def _wrap_correlation(self, original: Any) -> Any:
        session = self._watch.session

        @functools.wraps(original)
        def corrcoef(x: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
            # What watches computes correlations too.
            if session.active and y is not None and not self._inside and session.sites.is_own(sys._getframe(1).f_code.co_filename):
                session.compared(x, y)
            return original(x, y, *args, **kwargs)

        return corrcoef

    def _wrap_compute(self, original: Any) -> Any:
        def compute(metric: Any, *args: Any, **kwargs: Any) -> Any:
            """Compute the metric. (evaluate copies this function's code and adds to its docstring, so there must be one.)"""
            return self._watched(lambda: original(metric, *args, **kwargs), str(getattr(metric, "name", "metric")),
                                 kwargs.get("predictions"), kwargs.get("references"))

        return compute

    def _wrap_score(self, original: Any) -> Any:
        def score(*args: Any, **kwargs: Any) -> Any:
            references = args[0] if args else kwargs.get("y_true")
            predictions = args[1] if len(args) > 1 else kwargs.get("y_pred", kwargs.get("y_score"))
            return self._watched(lambda: original(*args, **kwargs), original.__name__, predictions, references)

        return score

    def _watched(self, call: Any, name: str, predictions: Any, references: Any) -> Any:
        session = self._watch.session
        if self._inside or not (session.active or self.listening):
            return call()
        session.safely("a threshold", cut_at_half.asked, session, _array(predictions))
        session.safely("a ranking", ranks.asked, session, name, _array(predictions), _array(references))
        if self.over:
            session.compared(predictions, references)  # what belongs together does so also after a training that was cut short
            return call()
        self._inside = True
        try:
            facts = session.safely("a metric", self.describe, name, predictions, references)
            session.compared(predictions, references)
            result = call()
        finally:
            self._inside = False
        if facts is not None:
            session.safely("a metric's value", _values, facts, result, name)
        return result

    def describe(self, name: str, predictions: Any, references: Any) -> MetricFacts:
        """Facts of a metric call, entered before the metric runs, so that one which raises has been described."""
        watch = self._watch
        watch.session.reach("evaluation")
        facts = MetricFacts(name=name, site=watch.session.sites.here())
        predicted, referenced = _array(predictions), _array(references)
        if predicted is not None:
            facts.predictions = tensors.facts(predicted)
            if name == "compute_metrics" and predicted.ndim == 2 and predicted.shape[1] > 1:
                predicted = predicted.argmax(-1)
            facts.predicted_counts = _counts(predicted)
        if referenced is not None:
            facts.references = tensors.facts(referenced)
            facts.reference_counts = _counts(referenced)
        labels, classes = (tensors.whole_labels(part, limit=100_000) if part is not None else None for part in (referenced, predicted))
        if labels and classes and len(labels) == len(classes):
            facts.pairs = paired(Counter(zip(labels, classes, strict=True)))
        facts.cut = watch.session.answered.cut(predicted, referenced)
        facts.swapped = watch.session.answered.swapped(predicted, referenced)
        if len(self._seen.metrics) < _METRICS:
            self._seen.metrics.append(facts)
        watch.seen.sites.setdefault("metric", facts.site) if facts.site else None
        return facts

    def finish(self) -> None:
        """The last evaluation."""
        self._flush()
        self._watch.unlooked.over()


def _draws(model: Any) -> bool:
    """Whether dropout or batch normalisation is active in a model: a part of it may be in another mode than the whole, and a module
    without either (a loss with weights of its own) has no mode to be in."""
    return any(module.training for module in model.modules() if acts_by_mode(module))


def _asleep(model: Any) -> bool:
    """Whether dropout or batch normalisation is off in a part of a model that learns: a frozen part may be kept so on purpose."""
    acting = [(module, layer) for module in model.modules() for layer in (module, *module.children()) if acts_by_mode(layer)]
    if not acting:
        return any(weight.requires_grad for weight in model.parameters())  # functions that ask for the mode of the whole
    return any(not layer.training and any(weight.requires_grad for weight in module.parameters()) for module, layer in acting)


def acts_by_mode(module: Any) -> bool:
    """Whether a module is dropout, or a batch normalisation that keeps statistics: without them it has but one way to go."""
    kind = type(module).__name__
    keeps = "BatchNorm" in kind and getattr(module, "running_mean", module) is not None
    return keeps or ("Dropout" in kind and bool(getattr(module, "p", 0)))


def _inputs(call: RootCall) -> tuple[Any, ...]:
    """What tells a call's tensors from others: where they lie, and their shapes."""
    return tuple((tensors.address(tensor) if tensor.device.type in ("cpu", "cuda") else 0, tuple(tensor.shape))
                 for tensor in trees.leaves([call.args, call.kwargs], tensors.is_tensor))


def _array(value: Any) -> Any:
    if value is None:
        return None
    found = tensors.array(value) if not isinstance(value, list | tuple) else None
    if found is not None:
        return found
    try:
        made = np.asarray(value)
    except (ValueError, TypeError):
        return None
    return made if made.dtype.kind in "iufb" else None


def _counts(values: Any) -> dict[str, int]:
    labels = tensors.whole_labels(values, limit=100_000)
    counted = Counter(labels or ())
    return _texts(counted) if len(counted) <= 1000 else {}


def paired(counted: Counter[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """References with the classes that were predicted for them, and how many rows; nothing where there are too many kinds."""
    return [(int(reference), int(predicted), rows) for (reference, predicted), rows in counted.items()] if len(counted) <= 1000 else []


def _texts(counted: Counter[int]) -> dict[str, int]:
    return {str(label): number for label, number in sorted(counted.items())}


def _values(facts: MetricFacts, result: Any, name: str) -> None:
    facts.values = {} if isinstance(result, str) else numbers(result if isinstance(result, dict) else {name: result})


def numbers(values: dict[Any, Any]) -> dict[str, float]:
    """What a metric says, of any numeric type, without what is no single number."""
    return {str(key): float(value) for key, value in values.items() if np.ndim(value) == 0 and hasattr(value, "__float__")}
