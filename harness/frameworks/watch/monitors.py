"""What is followed to choose the best model, to stop early or to lower the rate, and which way it is to go."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import MonitorFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import parsed, written
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import Place, site

_MOST, _EPOCHS = 8, 50
# By any of these the best weights may be kept beside what stops the training.
_KEEPING = {"ModelCheckpoint", "BackupAndRestore", "get_weights", "set_weights", "save_weights", "load_weights", "clone_model", "deepcopy"}


def of_keras(session: WatchSession, callbacks: Any, history: dict[str, list[float]]) -> None:
    """The callbacks that `fit` was given, once they have made up their minds: whether less of what they follow is better."""
    for callback in callbacks if isinstance(callbacks, list | tuple) else [callbacks]:
        better, measure = getattr(callback, "monitor_op", None), getattr(callback, "monitor", None)
        if not callable(better) or not isinstance(measure, str) or getattr(callback, "save_best_only", True) is False:
            continue
        less, more = bool(better(0.0, 1.0)), bool(better(1.0, 0.0))
        if less != more:
            kind, loss = type(callback).__name__, "val_loss" if measure.startswith("val_") else "loss"
            best, least = getattr(callback, "best", None), getattr(callback, "min_delta", 0.0)
            add(session, kind, measure, site(written.built(kind, session.script, session.sites)), greater=more,
                best=float(best) if isinstance(best, float | np.floating) and np.isfinite(best) else None, least=abs(float(least or 0.0)),
                ended=bool(getattr(callback, "stopped_epoch", 0)), leaves=_leaves(session, callback),
                first=next(map(float, history.get(measure, [])), None),
                values=list(map(float, history.get(measure, [])))[-_EPOCHS:], losses=list(map(float, history.get(loss, [])))[-_EPOCHS:])


def _leaves(session: WatchSession, callback: Any) -> bool:
    if getattr(callback, "restore_best_weights", True) is not False:
        return False
    words = {node.id if isinstance(node, ast.Name) else node.attr for node in ast.walk(parsed.tree(str(session.script)))
             if isinstance(node, ast.Name | ast.Attribute)}
    return not words & _KEEPING


def of_trainer(session: WatchSession, arguments: Any, callbacks: Iterable[Any]) -> None:
    """The measure by which a Trainer chooses the model that it loads in the end, or by which it stops."""
    stops = any("EarlyStopping" in type(callback).__name__ for callback in callbacks)
    measure, greater = arguments.metric_for_best_model, arguments.greater_is_better
    if (arguments.load_best_model_at_end or stops) and isinstance(measure, str) and isinstance(greater, bool):
        sites = session.observation.sites
        place = sites.get("training_arguments.greater_is_better") or sites.get("training_arguments.metric_for_best_model")
        add(session, "Trainer", measure, place or sites.get("training_arguments"), greater=greater)


def of_plateau(session: WatchSession, schedule: Any, place: Place | None) -> None:
    """A `ReduceLROnPlateau` of PyTorch takes a step at a place: what it is given is called there by a name."""
    given = [call.args[0] for call in ast.walk(parsed.tree(place[0])) if isinstance(call, ast.Call) and call.args
             and call.lineno == place[1] and isinstance(call.func, ast.Attribute) and call.func.attr == "step"] if place is not None else []
    if len(given) == 1 and isinstance(given[0], ast.Name | ast.Attribute | ast.Subscript):
        made = site(written.built("ReduceLROnPlateau", session.script, session.sites))
        add(session, "ReduceLROnPlateau", ast.unparse(given[0]), made or site(place), greater=schedule.mode == "max")


def add(session: WatchSession, kind: str, measure: str, place: Site | None, *, greater: bool, **facts: Any) -> None:
    """Remember one, once. `facts`: what else is known of it."""
    known = session.observation.evaluation.monitors
    found = MonitorFacts(kind=kind, measure=measure, greater=greater, site=place, **facts)
    if found not in known and len(known) < _MOST:
        known.append(found)
