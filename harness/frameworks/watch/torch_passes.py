"""Passes of an evaluation over a loader: the labels and answers of each, and what is held against what afterwards."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import passes, tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_data import Loader
    from harness.frameworks.watch.torch_watch import TorchWatcher

_PASSES, _HELD = 12, 20


@dataclass
class _Pass:
    place: Place | None
    labels: list[Any] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)


class Passes:
    """Hooks nothing; is told of iterations, batches, forwards and comparisons."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._passes: dict[int, tuple[Loader, deque[_Pass]]] = {}
        self._held: deque[tuple[list[Any], list[Any]]] = deque(maxlen=_HELD)
        watch.session.comparisons.append(self._compared)

    def begins(self, loader: Loader) -> None:
        """An iteration over a loader begins. One that trains, or that a Trainer drives, is none of an evaluation by hand."""
        watch = self._watch
        if watch.steps.steps and loader.role != "train" and not watch.evaluating and not watch.trainers.running:
            kept = self._passes.setdefault(id(loader), (loader, deque(maxlen=_PASSES)))[1]
            kept.append(_Pass(watch.session.sites.place()))

    def came(self, loader: Loader, labels: Any) -> None:
        """A batch with these labels."""
        running = self._running(loader)
        if running is not None and len(running.labels) < passes.MOST_ROWS:
            running.labels += tensors.whole_labels(labels, limit=passes.MOST_ROWS) or []

    def answered(self, call: RootCall) -> None:
        """A model has run."""
        running = self._running(call.loader) if call.loader is not None else None
        if running is not None and len(running.answers) < passes.MOST_ROWS:
            running.answers += self._watch.evaluations.classes_of(call) or []

    def _running(self, loader: Loader) -> _Pass | None:
        known = self._passes.get(id(loader))
        return known[1][-1] if known is not None and known[0] is loader else None

    def _compared(self, answers: Any, references: Any) -> None:
        """Answers are compared with references, row by row."""
        both = (passes.rows_of(answers), passes.rows_of(references)) if self._passes else (None, None)
        if both[0] is not None and both[1] is not None and len(set(both[0])) > 1:  # of one class for all rows the order says nothing
            self._held.append((both[0], both[1]))

    def finish(self) -> None:
        """Answers of one pass that were held against the same labels in another order."""
        for answers, references in self._held:
            for loader, kept in self._passes.values():
                asked = next((made for made in kept if made.answers and made.answers == answers), None)
                together = any(made.answers == answers and made.labels == references for made in kept)
                if asked is None or together or self._watch.seen.evaluation.passes is not None:
                    continue
                read = next((made.place for made in kept if made.labels == references and made is not asked), None)
                self._watch.seen.evaluation.passes = passes.compared(
                    asked.labels, references, site(asked.place), site(read), loader.facts.site)
