"""The Hugging Face Trainer (transformers 4.57 and 5): what it drops, what it evaluates, and asking it to stop."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import LoaderFacts
from harness.checks.metric_facts import MetricFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import asked_names, monitors, overrides, torch_datasets, trainer_cuts, written
from harness.frameworks.watch.sites import Place, keywords, site
from harness.frameworks.watch.torch_batches import IGNORED
from harness.frameworks.watch.torch_evaluation import numbers
from harness.frameworks.watch.torch_predictions import Predictions
from harness.frameworks.watch.torch_state import silent

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_ARRAYS = 4  # that a model gives and that are exchanged
_LARGEST = 1 << 28  # bytes of scores that are copied to ask a metric again
_HELD = 1 << 26  # bytes of scores from which on it is asked what they are kept for
_READ = ("compute_loss", "training_step", "prediction_step")  # methods of a Trainer that are given a batch
_ROWS = 16  # that this is asked with
_BEGUN = 6  # steps of a later training, which show what its optimizer holds


class Trainers:
    """Wraps methods of `Trainer`, the construction of its arguments, and the end of a step in its callbacks."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._predictions = Predictions(watch)
        self.trainer: Any = None
        self.training = False
        self.place: Place | None = None
        self._output_dir: str | None = None
        self._removing: dict[int, tuple[Any, Any, Any]] = {}  # collators that drop columns of rows: themselves, their Trainer, a role

    @property
    def running(self) -> bool:
        """Whether a Trainer is at work: it trains or evaluates."""
        return self.place is not None and bool(self.training or self._watch.evaluating)

    def attach(self) -> None:
        session = self._watch.session
        session.when_imported("transformers.trainer", self._hook)
        session.when_imported("transformers.training_args", self._hook_arguments)
        session.when_imported("transformers.trainer_callback", self._hook_callbacks)

    def _hook(self, module: Any) -> None:
        patches = self._watch.session.patches
        patches.replace(module.Trainer, "__init__", self._wrap_init)
        patches.replace(module.Trainer, "train", self._wrap_train)
        patches.replace(module.Trainer, "evaluation_loop", self._wrap_evaluation)
        patches.replace(module.Trainer, "_remove_unused_columns", self._wrap_remove)
        patches.replace(module.Trainer, "_get_collator_with_removed_columns", self._wrap_collator)
        patches.replace(module.RemoveColumnsCollator, "_remove_columns", self._wrap_row)
        self._predictions.attach(module)

    def _hook_arguments(self, module: Any) -> None:
        session = self._watch.session

        def wrap(original: Any) -> Any:
            def __post_init__(arguments: Any) -> None:  # noqa: N807  (subclasses have an `__init__` of their own, generated)
                if session.active:
                    session.safely("training arguments", self._arguments, session.sites.place(skip=arguments))
                original(arguments)

            return __post_init__

        session.patches.replace(module.TrainingArguments, "__post_init__", wrap)

    def _arguments(self, place: Place | None) -> None:
        session = self._watch.session
        session.site("training_arguments", site(place))
        for name, where in keywords(place).items():
            session.site(f"training_arguments.{name}", site(where))

    def _hook_callbacks(self, module: Any) -> None:
        def wrap(original: Any) -> Any:
            def on_step_end(handler: Any, args: Any, state: Any, control: Any) -> Any:
                result = original(handler, args, state, control)
                optimizer = self._watch.seen.optimizer
                if self._watch.session.active and optimizer is not None:
                    optimizer.training_steps = int(state.max_steps)
                if self._watch.session.active and not self._watch.leads_on and state.global_step >= _BEGUN:
                    result.should_training_stop = True
                    if self._watch.seen.truncated_at is None:
                        self._watch.seen.truncated_at = self._watch.steps.steps
                return result

            return on_step_end

        self._watch.session.patches.replace(module.CallbackHandler, "on_step_end", wrap)

    def _wrap_init(self, original: Any) -> Any:
        session = self._watch.session

        def __init__(trainer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active:
                session.safely("a Trainer's construction", self._constructs, trainer)
            original(trainer, *args, **kwargs)
            if session.active:
                session.safely("a Trainer", self._built, trainer)

        return __init__

    def _constructs(self, trainer: Any) -> None:
        self._watch.seen.trainer = self._watch.seen.trainer or type(trainer).__name__
        self.place = self._watch.session.sites.place(skip=trainer)
        self._watch.session.site("trainer", site(self.place))
        code = getattr(type(trainer).training_step, "__code__", None)
        if code is not None and self._watch.session.sites.is_own(code.co_filename):
            last = max(line for *_, line in code.co_lines() if line is not None)
            self._watch.session.site("training_step", site((code.co_filename, last, code.co_name)))

    def _built(self, trainer: Any) -> None:
        self.trainer = trainer
        self._watch.seen.framework = "torch"
        self._output_dir = trainer.args.output_dir
        trainer.args.output_dir = self._watch.files.scratch("output")
        tokenizer = getattr(trainer, "processing_class", None) or getattr(trainer.data_collator, "tokenizer", None)
        if tokenizer is not None and hasattr(tokenizer, "decode") and hasattr(tokenizer, "all_special_ids"):
            self._watch.data.tokenizers.append(tokenizer)

    def _wrap_train(self, original: Any) -> Any:
        session = self._watch.session

        def train(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active:
                if trainer is not self.trainer:  # built before it was watched
                    session.safely("a Trainer", self._built, trainer)
                self.trainer, self.training = trainer, True
                session.safely("train()", session.site, "fit")
                if (args and args[0]) or kwargs.get("resume_from_checkpoint"):
                    trainer.args.output_dir = self._output_dir or trainer.args.output_dir
                session.safely("methods that nobody calls", overrides.look, session, [trainer, *trainer.callback_handler.callbacks])
                session.safely("the best model", monitors.of_trainer, session, trainer.args, trainer.callback_handler.callbacks)
            try:
                return original(trainer, *args, **kwargs)
            finally:
                self.training = False

        return train

    def _wrap_evaluation(self, original: Any) -> Any:
        session, watch = self._watch.session, self._watch

        def evaluation_loop(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            if not session.active:
                return original(trainer, *args, **kwargs)
            session.safely("an evaluation", session.site, "evaluation")
            watch.evaluating += 1
            mine = vars(trainer).get("compute_metrics")
            if mine is not None:
                trainer.compute_metrics = self.recorded(mine)
            try:
                made = original(trainer, *args, **kwargs)
            finally:
                watch.evaluating -= 1
                if mine is not None:
                    trainer.compute_metrics = mine
            if mine is not None and made.label_ids is None and kwargs.get("description", next(iter(args[1:]), "")) == "Evaluation":
                watch.seen.evaluation.unlabelled = session.safely("labels of an evaluation", self._optional, trainer)
            return made

        return evaluation_loop

    def _optional(self, trainer: Any) -> list[str]:
        """Labels by their names that the model takes if they are there, and that the Trainer does not take for labels; without such names
        the one column of which that is true."""
        from transformers.utils import find_labels

        batches = [name for batch in self._watch.seen.batches for name in batch.columns]  # of rows that are plain dicts
        columns = getattr(trainer.train_dataset, "column_names", None) or batches
        taken = inspect.signature(trainer.model.forward).parameters.values()
        found = [one.name for one in taken if one.default is None and one.name in columns and one.name not in trainer.label_names]
        named = find_labels(type(trainer.model))
        return [name for name in found if name in named] or (found if len(found) == 1 else [])

    def recorded(self, mine: Any) -> Any:
        """A `compute_metrics` that notes what it is given and what it says."""
        session, evaluations = self._watch.session, self._watch.evaluations

        def compute_metrics(prediction: Any, *args: Any, **kwargs: Any) -> Any:
            facts = session.safely("compute_metrics", evaluations.describe, "compute_metrics", prediction.predictions, prediction.label_ids)
            try:
                values = mine(prediction, *args, **kwargs)
            except Exception:
                if facts is not None:
                    session.safely("compute_metrics", self._otherwise, facts, mine, prediction)
                raise
            if facts is not None and isinstance(values, dict):
                facts.values = numbers(values)
                facts.function = self._written(mine) if facts.cut is not None else None
                session.safely("compute_metrics", self._again, facts, mine, prediction)
                session.safely("compute_metrics", self._one_place_on, facts, mine, prediction)
                session.safely("compute_metrics", self._longer, facts, mine, prediction)
                session.safely("compute_metrics", self._exchanged, facts, mine, prediction)
                session.safely("compute_metrics", self._ranked, mine, prediction)
                session.safely("compute_metrics", self._cut, facts, mine, prediction)
            return values

        return compute_metrics

    def _asked(self, mine: Any, prediction: Any) -> Any:
        """What the script's metric says of something else; no part of the record."""
        metrics = self._watch.seen.evaluation.metrics
        before = len(metrics)
        try:
            with self._watch.session.paused(), silent():
                return mine(prediction)
        finally:
            del metrics[before:]

    def _otherwise(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric would not have raised at: one of several arrays, or class ids."""
        given = prediction.predictions
        several = isinstance(given, tuple) and len(given) > 0
        first = given[0] if several else given
        tried: list[tuple[Any, Any]] = [("first", first)] if several else []
        if getattr(first, "ndim", 0) > 1 and first.dtype.kind == "f":
            tried.append(("first classes" if several else "classes", first.argmax(-1)))
        for name, changed in tried:
            try:
                values = self._asked(mine, type(prediction)(predictions=changed, label_ids=prediction.label_ids))
            except Exception:  # noqa: BLE001, S112 - it is another fault, then
                continue
            if isinstance(values, dict):
                facts.works = name
                return

    def _again(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says of predictions that have the labels' shape, where only an axis of length one keeps them from it."""
        given, labels = prediction.predictions, prediction.label_ids
        shapes = getattr(given, "shape", None), getattr(labels, "shape", None)
        if None in shapes or shapes[0] == shapes[1] or given.size != labels.size or given.size < 2:
            return
        values = self._asked(mine, type(prediction)(predictions=given.reshape(labels.shape), label_ids=labels))
        if isinstance(values, dict):
            facts.reshaped = numbers(values)
            facts.function = self._written(mine)

    def _one_place_on(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says where each answer stands beside the reference that follows the one it stands beside."""
        given, labels = prediction.predictions, prediction.label_ids
        answers = given[0] if isinstance(given, tuple) and given else given
        if getattr(answers, "ndim", 0) < 2 or getattr(labels, "ndim", 0) != 2 or answers.shape[:2] != labels.shape:
            return

        def values() -> tuple[dict[str, float], dict[str, float]]:
            moved = answers[:, :-1]
            moved = (moved, *given[1:]) if isinstance(given, tuple) else moved
            found = self._asked(mine, type(prediction)(predictions=moved, label_ids=labels[:, 1:]))
            return facts.values, numbers(found) if isinstance(found, dict) else {}

        self._watch.alignment.compared(answers, labels, self._written(mine) or facts.site, values)

    def _exchanged(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says where the array whose largest scores are the labels stands in another one's place."""
        given, labels = prediction.predictions, prediction.label_ids
        if not isinstance(given, tuple) or not 1 < len(given) <= _ARRAYS or getattr(labels, "dtype", None) is None:
            return
        right = [_agreeing(part, labels) for part in given]
        best = max(range(len(given)), key=right.__getitem__)
        for other in (number for number in range(len(given)) if number != best and hasattr(given[number], "shape")):
            changed = list(given)
            changed[best], changed[other] = given[other], given[best]
            try:
                values = self._asked(mine, type(prediction)(predictions=tuple(changed), label_ids=labels))
            except Exception:  # noqa: BLE001, S112 - what it cannot take is no array of answers
                continue
            found = numbers(values) if isinstance(values, dict) else {}
            if sum(found.values()) > sum(facts.exchanged.values()):
                facts.function = self._written(mine)
                facts.exchanged, facts.arrays = found, [list(given[other].shape), list(given[best].shape)]

    def _longer(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says of rows that have more places which are to be left out, with the answers of others there."""
        given, labels = prediction.predictions, prediction.label_ids
        scores = given[0] if isinstance(given, tuple) and given else given
        if getattr(scores, "ndim", 0) != 3 or getattr(labels, "ndim", 0) != 2 or scores.shape[:2] != labels.shape:
            return
        left_out = labels == IGNORED
        facts.left_out = float(left_out.mean())
        if not 0 < facts.left_out < 1 or scores.nbytes > _LARGEST:
            return
        more = np.concatenate([scores, scores], axis=1)
        values = self._asked(mine, type(prediction)(predictions=(more, *given[1:]) if isinstance(given, tuple) else more,
                                                    label_ids=np.concatenate([labels, np.full_like(labels, IGNORED)], axis=1)))
        if isinstance(values, dict):
            facts.longer = numbers(values)
            facts.counted = self._compares(mine)

    def _ranked(self, mine: Any, prediction: Any) -> None:
        """Whether the script's metric takes scores for nothing but which is the largest: with all others in reverse order it says the same,
        of its labels and of those that come second."""
        given, labels, memory = prediction.predictions, prediction.label_ids, self._watch.seen.memory
        scores = given[0] if isinstance(given, tuple) and given else given
        if getattr(scores, "ndim", 0) < 2 or scores.dtype.kind != "f" or scores.nbytes <= max(_HELD, memory.scores_kept):
            return
        if getattr(labels, "shape", None) != scores.shape[:-1]:
            return
        some, theirs = scores[:_ROWS], labels[:_ROWS]
        best = some.argmax(-1)[..., None]
        bare = -some
        np.put_along_axis(bare, best, bare.max(-1, keepdims=True) + 1, axis=-1)
        second = np.where(theirs == IGNORED, theirs, bare.argmin(-1))
        rest = [part[:_ROWS] for part in given[1:]] if isinstance(given, tuple) else []
        for asked in (theirs, second):
            said = [self._asked(mine, type(prediction)(predictions=(tried, *rest) if isinstance(given, tuple) else tried, label_ids=asked))
                    for tried in (some, bare)]
            if not all(isinstance(values, dict) for values in said) or not numbers(said[0]) or numbers(said[0]) != numbers(said[1]):
                return
        memory.scores_kept, memory.classes = int(scores.nbytes), int(scores.shape[-1])

    def _cut(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """Whether the script's metric takes raw scores for probabilities and cuts them at one half."""
        decisions = self._watch.seen.evaluation.decisions
        found = trainer_cuts.at_half(lambda tried: self._asked(mine, tried), prediction) if not decisions else None
        if found is not None:
            found.site = self._compares(mine) or self._written(mine) or facts.site
            decisions.append(found)

    def _compares(self, function: Any) -> Site | None:
        """Where a function compares something, if it does."""
        code = getattr(function, "__code__", None)
        return site(written.compared(code, self._watch.session.sites)) if code is not None else None

    def _written(self, function: Any) -> Site | None:
        """Where the script defines a function, if it does."""
        code = getattr(function, "__code__", None)
        if code is None or not self._watch.session.sites.is_own(code.co_filename):
            return None
        return site((code.co_filename, code.co_firstlineno, code.co_name))

    def _wrap_remove(self, original: Any) -> Any:
        session = self._watch.session

        def _remove_unused_columns(trainer: Any, dataset: Any, *args: Any, **kwargs: Any) -> Any:
            before = list(getattr(dataset, "column_names", None) or [])
            facts = LoaderFacts(kind="Trainer", dataset_kind=type(dataset).__name__, columns=before, role=self._role(args, kwargs))
            if session.active:
                session.safely("a dataset", self._columns, facts, dataset, trainer)
            return original(trainer, dataset, *args, **kwargs)

        return _remove_unused_columns

    def _wrap_collator(self, original: Any) -> Any:
        def _get_collator_with_removed_columns(trainer: Any, data_collator: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(trainer, data_collator, *args, **kwargs)
            if made is not data_collator and self._watch.session.active:
                self._removing[id(made)] = (made, trainer, self._role(args, kwargs))
            return made

        return _get_collator_with_removed_columns

    def _wrap_row(self, original: Any) -> Any:
        def _remove_columns(collator: Any, feature: Any) -> Any:
            _, trainer, role = self._removing.pop(id(collator), (None, None, ""))
            if trainer is not None and isinstance(feature, dict) and self._watch.session.active:
                facts = LoaderFacts(kind="Trainer", columns=list(feature), role=role)
                self._watch.session.safely("a dataset", self._columns, facts, None, trainer)
            return original(collator, feature)

        return _remove_columns

    @staticmethod
    def _role(args: Any, kwargs: Any) -> Any:
        said = str(kwargs.get("description") or (args[0] if args else "") or "")
        return "train" if "train" in said.lower() else "eval"

    def _columns(self, facts: LoaderFacts, dataset: Any, trainer: Any) -> None:
        """What the Trainer will drop, asked of the dataset (or of its first row) before it does."""
        trainer._set_signature_columns_if_needed()
        accepted = set(trainer._signature_columns or ())
        facts.dropped_columns = [name for name in facts.columns if name not in accepted] if trainer.args.remove_unused_columns else []
        if dataset is not None:
            torch_datasets.describe_hf(facts, dataset)
        facts.site = site(self.place) or self._watch.session.sites.here()
        code = getattr(type(trainer.model).forward, "__code__", None)
        facts.missed = asked_names.of(trainer.model, facts.dropped_columns)
        collator = trainer.data_collator
        for function in (*(getattr(type(trainer), name) for name in _READ), collator, type(collator).__call__):
            reader = getattr(function, "__code__", None)
            if reader is not None and not facts.missed:
                facts.missed, facts.missed_by = written.asked(reader, facts.dropped_columns, self._watch.session.sites), reader.co_name
        if code is not None and self._watch.session.sites.is_own(code.co_filename):
            self._watch.session.site("forward_written", site((code.co_filename, code.co_firstlineno, code.co_name)))
        self._watch.data.columns_of_trainer(facts)


def _agreeing(scores: Any, labels: Any) -> float:
    """The share of labels (int[rows] or [rows, tokens]) that the largest scores along a further, last axis give."""
    fits = getattr(scores, "ndim", 0) == getattr(labels, "ndim", -1) + 1 and scores.shape[:-1] == labels.shape and scores.dtype.kind == "f"
    return float((scores.argmax(-1) == labels).mean()) if fits and labels.size else -1.0
