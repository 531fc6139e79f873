"""Evaluate before training: a Trainer's own evaluation on a few rows, so that a mistake in it costs seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from harness.checks.probe_facts import ProbeFacts
from harness.frameworks.watch import exceptions
from harness.frameworks.watch.sites import Sites
from harness.frameworks.watch.torch_state import Frozen, silent

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_ROWS = 32
_PER_LABEL = 4


def evaluate_before_training(watch: TorchWatcher) -> None:
    """Run `evaluation_loop` of the Trainer on rows of its evaluation set, every label among them; keep the exception if it raises."""
    trainer, facts = watch.trainers.trainer, watch.seen.probes
    dataset = getattr(trainer, "eval_dataset", None) if trainer is not None else None
    if dataset is None or not watch.trainers.training:
        return
    if isinstance(dataset, dict):
        dataset = next(iter(dataset.values()), None)
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        facts.skipped["evaluate"] = "the evaluation set cannot be indexed"
        return
    model = trainer.model
    if next(model.parameters()).device.type not in ("cpu", "cuda"):
        facts.skipped["evaluate"] = "the device is not one to probe on"
        return
    frozen = Frozen(watch.torch, [model], [], [])
    kept = dict(vars(trainer))
    handler = dict(vars(trainer.callback_handler))
    loaders = list(trainer.accelerator._dataloaders)
    metrics = watch.seen.evaluation.metrics
    before = len(metrics)
    watch.evaluations.listening = True
    with frozen.held(), silent():
        try:
            _evaluate(trainer, dataset, facts, watch.session.sites, watch.trainers.recorded)
        finally:
            watch.evaluations.listening = False
            if facts.evaluation_error is None:
                del metrics[before:]  # what an untrained model predicts is no evaluation of the script
            vars(trainer).clear()
            vars(trainer).update(kept)
            vars(trainer.callback_handler).clear()
            vars(trainer.callback_handler).update(handler)
            trainer.accelerator._dataloaders[:] = loaders


def _evaluate(trainer: Any, dataset: Any, facts: ProbeFacts, sites: Sites, recorded: Callable[[Any], Any]) -> None:
    part = _few_rows(dataset)
    if trainer.compute_metrics is not None:
        trainer.compute_metrics = recorded(trainer.compute_metrics)
    trainer.callback_handler.callbacks = []  # no progress bar, no log, no early stopping
    try:
        loader = trainer.get_eval_dataloader(part)
        only_loss = True if trainer.compute_metrics is None else None
        output = trainer.evaluation_loop(loader, description="probe", prediction_loss_only=only_loss)
    except Exception as error:  # noqa: BLE001 - this is the question: does it raise?
        raised = exceptions.facts(error, sites, {})
        raised.during = "probe"
        facts.evaluation_error = msgspec.to_builtins(raised)
        return
    facts.evaluation_values = {str(key): float(value) for key, value in (output.metrics or {}).items() if isinstance(value, int | float)}


def _few_rows(dataset: Any) -> Any:
    """Some rows of each label (a metric may refuse to see one only), else evenly spread ones."""
    count = len(dataset)
    chosen = list(range(0, count, max(1, count // _ROWS)))[:_ROWS]
    column = next((name for name in ("labels", "label") if name in (getattr(dataset, "column_names", None) or ())), None)
    if column is not None:
        by_label: dict[Any, list[int]] = {}
        for index, label in enumerate(dataset.select(range(min(count, 2000))).select_columns([column])[:][column]):
            if not isinstance(label, int | float):
                break
            by_label.setdefault(label, []).append(index)
        chosen = sorted({index for rows in by_label.values() for index in rows[:max(_PER_LABEL, _ROWS // len(by_label))]}) or chosen
    if hasattr(dataset, "select"):
        return dataset.select(chosen[:4 * _ROWS])
    from torch.utils.data import Subset

    return Subset(dataset, chosen)
