"""The Hugging Face Trainer (transformers 4.57 and 5): what it drops, what it evaluates, and asking it to stop."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from harness.checks.data_facts import LoaderFacts
from harness.frameworks.watch import asked_names, monitors, overrides, parsed, torch_datasets, written
from harness.frameworks.watch.metrics_asked import AskedMetrics
from harness.frameworks.watch.sites import Place, keywords, site
from harness.frameworks.watch.torch_evaluation import numbers
from harness.frameworks.watch.torch_predictions import Predictions

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_READ = ("compute_loss", "training_step", "prediction_step")  # methods of a Trainer that are given a batch
_BEGUN = 6  # steps of a later training, which show what its optimizer holds


class Trainers:
    """Wraps methods of `Trainer`, the construction of its arguments, and the end of a step in its callbacks."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._predictions = Predictions(watch)
        self._metrics = AskedMetrics(watch.session, watch.seen, watch.alignment)
        self.trainer: Any = None
        self.training = False
        self._transform: Any = None  # the code of the function that the training's rows go through
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
                    self._metrics.raised(facts, mine, prediction)
                raise
            if facts is not None and isinstance(values, dict):
                facts.values = numbers(values)
                self._metrics.answered(facts, mine, prediction)
            return values

        return compute_metrics

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

    def _transformed(self, facts: LoaderFacts, dataset: Any) -> None:
        """Where the script begins to make the rows of an evaluation, by a function that those of the training do not go through."""
        function = (getattr(dataset, "_format_kwargs", None) or {}).get("transform")
        code = getattr(function, "__code__", None)
        if facts.role == "train":
            self._transform = code
        elif code is not None and code is not self._transform and self._watch.session.sites.is_own(code.co_filename):
            made = parsed.function(parsed.tree(code.co_filename), code.co_name, code.co_firstlineno)
            if made is not None:
                self._watch.session.noted("eval_transform", (code.co_filename, made.body[0].lineno, code.co_name))

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
            self._transformed(facts, dataset)
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
