"""Passes of an evaluation over a loader: the labels and answers of each, and what is held against what afterwards."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import passes, tensors, together, trees
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_data import Loader
    from harness.frameworks.watch.torch_watch import TorchWatcher

_PASSES, _HELD = 12, 20


@dataclass
class _Pass:
    """`stack`: the own frames it began in; `trains`: a loss went backward in it; `labels`: a number a row; `outputs`: by their place in
    what the model returns, a key a row; `classes`: of the rows, where known; `order`: their numbers, where a sampler drew them.
    """

    stack: tuple[Place, ...]
    trains: bool = False
    labels: list[Any] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)
    outputs: dict[int, list[Any]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)

    @property
    def place(self) -> Place | None:
        """Where it began."""
        return next(iter(self.stack), None)

    def gave(self, answers: list[Any]) -> bool:
        """Whether these are what the model answered in this pass, row by row."""
        return self.classes == answers or answers in self.outputs.values()


class Passes:
    """Hooks scikit-learn's check of what belongs together; is told of iterations, batches, forwards and comparisons."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._passes: dict[int, tuple[Loader, deque[_Pass]]] = {}
        self._held: deque[tuple[list[Any], list[Any]]] = deque(maxlen=_HELD)
        watch.session.comparisons.append(self._compared)

    def attach(self) -> None:
        """Rows that are given to an estimator beside labels belong together as answers and references do."""
        session = self._watch.session
        session.when_imported("sklearn.utils.validation",
                              lambda module: session.patches.replace(module, "check_consistent_length", self._wrap_check))

    def _wrap_check(self, original: Any) -> Any:
        session = self._watch.session

        def check_consistent_length(*arrays: Any) -> Any:
            if session.active and len(arrays) > 1:
                session.safely("rows and labels", self._compared, arrays[0], arrays[1])
            return original(*arrays)

        return check_consistent_length

    def begins(self, loader: Loader) -> None:
        """An iteration over a loader begins. One that a Trainer drives is none of an evaluation by hand."""
        watch = self._watch
        if watch.steps.steps and not watch.evaluating and not watch.trainers.running:
            kept = self._passes.setdefault(id(loader), (loader, deque(maxlen=_PASSES)))[1]
            kept.append(_Pass(watch.session.sites.stack()))

    def trained(self) -> None:
        """A loss goes backward: the passes that are under way train."""
        for loader, kept in self._passes.values():
            if kept and loader.iterator is not None and loader.iterator() is not None:
                kept[-1].trains = True

    def came(self, loader: Loader, labels: Any) -> None:
        """A batch with these labels."""
        running = self._running(loader)
        if running is not None and len(running.labels) < passes.MOST_ROWS:
            running.labels += passes.keys(labels) or []

    def drawn(self, sampler: Any, order: list[int]) -> None:
        """A sampler has drawn all rows for a pass that trained nothing."""
        for loader, every in self._passes.values():
            if every and getattr(loader.ref(), "sampler", None) is sampler:
                every[-1].order = order

    def answered(self, call: RootCall) -> None:
        """A model has run."""
        running = self._running(call.loader) if call.loader is not None else None
        if running is None or call.grad or len(running.classes) >= passes.MOST_ROWS:
            return
        running.classes += self._watch.evaluations.classes_of(call) or []
        for number, tensor in enumerate(trees.leaves(call.output, tensors.is_tensor)):
            if tensor.is_floating_point() and tensor.dim() and tensors.readable(tensor):
                running.outputs.setdefault(number, []).extend(passes.keys(tensor) or [])

    def _running(self, loader: Loader) -> _Pass | None:
        known = self._passes.get(id(loader))
        return known[1][-1] if known is not None and known[0] is loader and known[1] else None

    def _compared(self, answers: Any, references: Any) -> None:
        """Answers are compared with references, row by row."""
        both = (passes.rows_of(answers), passes.rows_of(references)) if self._passes else (None, None)
        if both[0] is not None and both[1] is not None and len(set(both[0])) > 1:  # of one class for all rows the order says nothing
            self._held.append((both[0], both[1]))

    def finish(self) -> None:
        """Answers of one pass that were held against the same labels in another order."""
        for answers, references in self._held:
            for loader, every in self._passes.values():
                kept = [made for made in every if not made.trains]
                asked = next((made for made in kept if made.gave(answers)), None)
                at_once = any(made.gave(answers) and made.labels == references for made in kept)
                if asked is None or at_once or self._watch.seen.evaluation.passes is not None:
                    continue
                read = next((made for made in kept if made.labels == references and made is not asked), None)
                self._found(loader, asked, read, references)
        for loader, every in self._passes.values():
            kept = [made for made in every if not made.trains]
            silent = [made for made in kept if made.labels and not made.classes and not made.outputs]
            # A comparison that no library was asked for is read off the script's text.
            pairs = ((asked, read) for asked in kept for read in silent if (asked.classes or asked.outputs) and asked.labels != read.labels)
            both = next((pair for pair in pairs if together.rows_beside(pair[0].stack, pair[1].stack)), None)
            if both is not None and self._watch.seen.evaluation.passes is None:
                self._found(loader, *both, both[1].labels)
            drawn = [made for made in kept if made.order and (made.classes or made.outputs)]
            across = next(((one, other) for one, other in itertools.combinations(drawn, 2)
                           if one.order != other.order and together.rows_across(one.stack, other.stack)), None)
            if across is not None and self._watch.seen.evaluation.passes is None:
                one, other = across
                self._watch.seen.evaluation.passes = passes.compared(one.order, other.order, site(one.place), site(other.place),
                                                                     site(loader.order) or loader.facts.site)

    def _found(self, loader: Loader, asked: _Pass, read: _Pass | None, references: list[Any]) -> None:
        self._watch.seen.evaluation.passes = passes.compared(
            asked.labels, references, site(asked.place), site(read.place) if read is not None else None,
            None if loader.role == "train" else site(loader.order) or loader.facts.site)
