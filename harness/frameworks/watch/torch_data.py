"""Loaders and batches: what is iterated, in which order, and what comes out."""

from __future__ import annotations

import inspect
import weakref
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.checks.data_facts import LoaderFacts
from harness.checks.raised import LABELS
from harness.frameworks.watch import leaks, tensors, torch_batches, torch_datasets, torch_parallel, trees, written
from harness.frameworks.watch.kept_rows import KeptRows
from harness.frameworks.watch.overlaps import Overlaps
from harness.frameworks.watch.sites import Place, Stack, site
from harness.frameworks.watch.torch_readers import Readers
from harness.frameworks.watch.torch_targets import Parts

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_BATCHES = 4
_FIRST = 4
_ORDERED = 4096
_AHEAD = 3
_WHOLE, _SPREAD = 1 << 16, 256



@dataclass
class _Made:
    """Where a loader was made. `order`: where it was said whether it shuffles; outside of a Trainer, which says so itself."""

    ref: Any
    place: Place | None
    order: Place | None
    stack: Stack


@dataclass
class Loader:
    """A loader that is iterated, and those made anew at the same place once it is gone (`for batch in DataLoader(...)` in every epoch).

    `ref`: weak, to the latest; `begun`: iterations so far; `trains`: whether a loss went backward since the running one began; `labels` of
    the rows in the order they came; `target`: the part of its batches that holds them, where it is not the one that is looked at first;
    `order`: where it was said whether it shuffles; `asked`: where its latest iteration began."""

    ref: Any
    dataset: Any
    facts: LoaderFacts
    stack: Stack
    role: str | None = None
    batches: int = 0
    before: int = 0  # batches before the pass that is under way
    begun: int = 0
    trains: bool = False
    labels: list[Any] = field(default_factory=list)
    iterator: Any = None
    parts: Parts = field(default_factory=Parts)
    target: str | None = None
    order: Place | None = None
    asked: Place | None = None


class Data:
    """Wraps the construction of a `DataLoader` and the `__next__` of its iterators."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._places: dict[int, _Made] = {}
        self._loaders: dict[int, Loader] = {}
        self.current: Loader | None = None
        self.training_loader: Loader | None = None
        self.batch: Any = None
        self.batch_labels: list[Any] | None = None
        self._kept: Any = None
        self.trained_rows: list[Any] = []
        self._described: Any = None
        self.tokenizers: list[Any] = []
        self._rows = KeptRows()
        self._given: RootCall | None = None
        self._overlaps, self._readers = Overlaps(), Readers(watch.session)
        self._recent: deque[tuple[Any, list[Any], list[Any] | None]] = deque(maxlen=_AHEAD)  # with the tensors, which a script may take out
        self._trainer_facts: dict[str, LoaderFacts] = {}

    def attach(self) -> None:
        from torch.utils.data import dataloader

        patches = self._watch.session.patches
        patches.replace(dataloader.DataLoader, "__init__", self._wrap_init)
        patches.replace(dataloader._BaseDataLoaderIter, "__init__", self._wrap_iterator)
        patches.replace(dataloader._BaseDataLoaderIter, "__next__", self._wrap_next)

    def _wrap_init(self, original: Any) -> Any:
        session = self._watch.session

        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active and (id(loader) not in self._places or self._places[id(loader)].ref() is not loader):
                # A Trainer makes its loaders from what it was built with, so that is where they are mended.
                place = session.sites.direct() if self._watch.trainers.running else session.sites.place(skip=loader)
                place = place or self._watch.trainers.place
                shuffles = bool(kwargs.get("shuffle", args[2] if len(args) > 2 else False))
                order = None if self._watch.trainers.running else session.sites.decided(value=shuffles)
                dataset = args[0] if args else kwargs.get("dataset")
                within = None if self._watch.trainers.running or session.sites.direct(loader) is not None else self._made_of(dataset)
                place, order = (within.place, within.order) if within is not None else (place, order)
                self._places[id(loader)] = _Made(weakref.ref(loader), place, order, session.sites.stack())
                session.safely("a loader's construction", session.site, "loader", site(place))
            original(loader, *args, **kwargs)

        return __init__

    def _made_of(self, dataset: Any) -> _Made | None:
        """The script's own loader over a dataset, which a library makes another one of (`accelerator.prepare(loader)`)."""
        alive = ((made, made.ref()) for made in reversed(self._places.values()))
        return next((made for made, loader in alive if loader is not None and getattr(loader, "dataset", None) is dataset), None)

    def _wrap_iterator(self, original: Any) -> Any:
        session = self._watch.session

        def __init__(iterator: Any, loader: Any) -> None:  # noqa: N807
            original(iterator, loader)
            if session.active:
                session.safely("a loader", self._begins, iterator, loader)

        return __init__

    def _begins(self, iterator: Any, loader: Any) -> None:
        known = self._loaders.get(id(loader))
        if known is None or known.ref() is not loader:
            made = self._places.get(id(loader), _Made(None, None, None, ()))
            gone = [other for other in self._loaders.values() if other.ref() is None and other.stack]
            known = next((other for other in gone if other.stack == made.stack), None)
        if known is not None:
            known.ref, known.dataset = weakref.ref(loader), loader.dataset
            self._loaders = {key: other for key, other in self._loaders.items() if other is not known} | {id(loader): known}
        else:
            known = self._loaders[id(loader)] = Loader(weakref.ref(loader), loader.dataset, torch_datasets.loader_facts(loader), made.stack)
            known.facts.site, known.order = site(made.place), made.order
            kind = type(torch_datasets.whole(loader.dataset))
            torch_batches.places(self._watch.session, collator=loader.collate_fn, getitem=getattr(kind, "__getitem__", None))
            self._written(kind)
            if len(self._watch.seen.loaders) < 8:
                self._watch.seen.loaders.append(known.facts)
        known.trains, known.asked = False, self._watch.session.sites.place()
        known.begun, known.before = known.begun + 1, known.batches
        known.iterator = weakref.ref(iterator)
        self._watch.passes.begins(known)

    def _written(self, kind: type) -> None:
        """Where a dataset of the script's own makes its labels."""
        getitem, sites = getattr(kind, "__getitem__", None), self._watch.session.sites
        places = {"getitem.targets": written.returned(kind, getitem, sites), "getitem.last": written.last_made(getitem, sites),
                  "getitem.computed": written.returned(kind, getitem, sites, computed=True)}
        for name, place in places.items():
            if place is not None:
                self._watch.session.site(name, site(place))

    def _wrap_next(self, original: Any) -> Any:
        session = self._watch.session

        def __next__(iterator: Any) -> Any:  # noqa: N807
            if not session.active:
                return original(iterator)
            known = next((found for found in self._loaders.values() if found.iterator is not None and found.iterator() is iterator), None)
            if session.out_of_time:
                session.enough("time")
            session.reach("batch")
            if known is not None and self._cut_short(known):
                raise StopIteration
            try:
                batch = original(iterator)
            except StopIteration:
                if known is not None and known.batches and known.batches == known.before:
                    known.facts.empty_passes += 1
                raise
            if known is not None:
                session.safely("a batch", self._came, known, batch)
            return batch

        return __next__

    def _cut_short(self, known: Loader) -> bool:
        """Whether a training loader's iteration ends here: all steps were watched, and the script is to come to its evaluation.

        A pass that does not train is never cut: what a script does with all of its predictions may need all of them.
        """
        watch = self._watch
        if watch.leads_on or known.role != "train" or watch.trainers.training or not known.trains or known.batches < _FIRST:
            return False
        self._watch.evaluations.may_end()
        if torch_parallel.in_company():
            return False
        if watch.seen.truncated_at is None:
            watch.seen.truncated_at = watch.steps.steps
        return True

    def _came(self, known: Loader, batch: Any) -> None:
        known.batches += 1
        self.current, self.batch = known, batch
        self._watch.pairs.came(known, batch)
        self._watch.cached.came(known, batch)
        self._readers.came(known, batch)
        if known.role != "train" and self._watch.steps.steps:
            self._watch.tape.clear()
        self.batch_labels = None
        found = self.labels_of(batch, known)
        if found is not None:
            self.batch_labels = tensors.whole_labels(found)
        self._recent.append((batch, trees.leaves(batch, tensors.is_tensor), self.batch_labels))
        if found is not None:
            self._watch.passes.came(known, found)
            if len(known.labels) < _ORDERED:
                known.labels += self.batch_labels or []
        first = sum(1 for other in self._loaders.values() if other.batches) == 1
        if known is self.training_loader or (self.training_loader is None and not self._watch.evaluating and first):
            self._describe(batch, self._watch.seen.batches)
        elif len(self._watch.seen.eval_batches) < _BATCHES:
            self._describe(batch, self._watch.seen.eval_batches)

    def _describe(self, batch: Any, into: list[Any]) -> None:
        if len(into) < _BATCHES:
            into.append(torch_batches.facts(batch, self.tokenizers, self._target(self.current)))
            self._described = batch

    def labels_of(self, batch: Any, loader: Loader | None) -> Any:
        """The labels of a batch that this loader has made; None where there are none."""
        return torch_batches.labels_in(batch, self._target(loader))

    def _target(self, loader: Loader | None) -> str | None:
        """The part of a batch that holds the labels; an evaluation's batches are taken to be made as those of the training."""
        return next((known.target for known in (loader, self.training_loader) if known is not None and known.target is not None), None)

    def compared(self, target: Any) -> None:
        """A loss is computed against this."""
        if self.current is not None and not self._watch.evaluating and self._watch.steps.steps < _FIRST:
            self.current.parts.asked(self.batch, target)

    def _retarget(self, loader: Loader, calls: list[RootCall]) -> None:
        """The labels are another part of the batches than they were taken for: what was read off them so far is read again, or dropped."""
        found = loader.parts.target(self.batch)
        if found is None or found == loader.target:
            return
        loader.target = found
        for known in self._loaders.values():
            known.labels, known.facts.label_counts = [], {}
        self.trained_rows, self._rows = [], KeptRows()
        self._recent.clear()
        labels = self.labels_of(self.batch, loader)
        self.batch_labels = tensors.whole_labels(labels)
        for call in calls:
            call.labels = self.batch_labels
        seen = self._watch.seen
        seen.batches = [torch_batches.facts(self.batch, self.tokenizers, found)] if self._described is self.batch else []
        seen.eval_batches = []

    def columns_of_trainer(self, facts: LoaderFacts) -> None:
        """What a Trainer drops of a dataset, known before its loader is iterated (and if it never is)."""
        self._trainer_facts[facts.role] = facts
        if not any(other.role == facts.role and other.kind == "Trainer" for other in self._watch.seen.loaders):
            self._watch.seen.loaders.append(facts)

    def given_to_model(self, call: RootCall) -> None:
        """Describe what a model is given where no loader made it."""
        call.batch, call.labels = self._asked_of(call)
        if self.current is not None and call.grad and not self._watch.evaluating and self._watch.steps.steps < _FIRST:
            self.current.parts.called(self.batch, [call.args, call.kwargs])
            self._watch.session.safely("labels by another name", self._swallowed, call)
        seen = self._watch.seen
        if self.current is not None and call.grad and seen.batches and self._described is self.batch and not self._watch.evaluating:
            # What the model is given counts: a mask may get lost between the batch and the call.
            torch_batches.as_called(seen.batches[-1], torch_batches.named(call.module, call.args, call.kwargs), self.tokenizers,
                                    getattr(call.module, "config", None))
        if self.current is None and call.grad and len(seen.batches) < _BATCHES and not self._watch.evaluating:
            columns = torch_batches.named(call.module, call.args, call.kwargs)
            seen.batches.append(torch_batches.facts(columns, self.tokenizers, config=getattr(call.module, "config", None)))
            given, self._given = columns.get(seen.batches[-1].inputs_key or ""), call
            if not any(isinstance(part, self._watch.torch.nn.RNNBase) for part in call.module.modules()):  # rows, and no steps of a series
                seen.batches[-1].moved = self._overlaps.moved(given, given)

    def _swallowed(self, call: RootCall) -> None:
        """Labels that a `forward` of the script's own takes as `**` anything else and never reads, while its `labels` stay None."""
        facts, code = self._watch.seen.model, getattr(type(call.module).forward, "__code__", None)
        if facts is None or facts.unlabelled is not None or code is None or not self._watch.session.sites.is_own(code.co_filename):
            return
        taken = inspect.signature(type(call.module).forward).parameters
        rest = [name for name in call.kwargs if name not in taken and name in LABELS]
        bare = [name for name, one in taken.items() if name in LABELS and one.default is None and name not in call.kwargs]
        if rest and bare and not written.asked(code, rest, self._watch.session.sites):
            facts.unlabelled = rest
            for name in rest:
                self._watch.session.noted(f"keyed.{name}", written.keyed(name, self._watch.session.sites.script))

    def _asked_of(self, call: RootCall) -> tuple[Any, list[Any] | None]:
        """The batch whose tensors a model is given, and its labels: a loader may be some batches ahead. The last one where none is."""
        given = {id(tensor) for tensor in trees.leaves([call.args, call.kwargs], tensors.is_tensor)}
        for batch, parts, labels in reversed(self._recent):
            if any(id(part) in given for part in parts):
                return batch, labels
        return self.batch, self.batch_labels

    def source_of(self, call: RootCall) -> Loader | None:
        """The loader that a call's rows come from: the one whose batch came last, unless what is asked has other rows than that batch."""
        if self.current is None or call.grad or self._watch.evaluating:
            return self.current
        rows = {len(part) for part in trees.leaves(self._asked_of(call)[0], tensors.is_tensor) if part.dim()}
        asked = {len(part) for part in trees.leaves([call.args, call.kwargs], tensors.is_tensor) if part.dim()}
        return None if rows and asked and not rows & asked else self.current

    def trains(self, loader: Loader) -> None:
        """A loss goes backward that a model made of this loader's batch."""
        if not self._watch.evaluating:
            if self.training_loader is None:
                self.training_loader = loader
                self._watch.session.safely("texts of a dataset", torch_datasets.texts, self._watch, loader.dataset)
            loader.role = "train"

    def trained_on(self, calls: list[RootCall]) -> None:
        """A loss of these calls goes backward: keep the rows it was made of. Where nothing else tells, the loader whose batch came last
        trains."""
        if self.current is None or self._watch.evaluating:
            return
        if self.training_loader is None:
            self.trains(self.current)
        if self.current.role != "train":
            return
        self.current.trains = True
        if self._watch.steps.steps < _FIRST:
            self._retarget(self.current, calls)
        self.trained_rows += self.batch_labels or []
        if not self._rows.full and self._kept is not self.batch:
            labels = self.batch_labels or tensors.numbers(self.labels_of(self.batch, self.current))
            self._keep(self.batch, labels, self._target(self.current))
        self.batch_labels, self._kept = None, self.batch

    def _keep(self, batch: Any, labels: list[Any] | None, target: str | None = None) -> None:
        """Rows of the training batches with their labels, or a number each, for the baseline."""
        if labels is None:
            return
        columns = torch_batches.columns_of(batch)
        data = tensors.array(columns.get(torch_batches.inputs_key(columns, torch_batches.labels_in(batch, target)) or ""))
        if data is None or len(data) != len(labels) or data.ndim < 1:
            return
        loader = self.training_loader
        self._rows.add(data, labels, tensors.array(columns.get("attention_mask")), first=self._in_first_pass(),
                       whole=loader.facts.rows if loader is not None and not loader.facts.replaces else None)

    def _in_first_pass(self) -> bool:
        """Whether each row that was trained on is another row of the dataset, though their contents may be the same."""
        loader = self.training_loader
        return loader is not None and loader.begun == 1 and not loader.facts.replaces

    def keep_given(self, call: RootCall, target: Any) -> None:
        """Rows that a model was given where no loader made them, with the loss function's targets as labels."""
        columns = torch_batches.named(call.module, call.args, call.kwargs)
        if call is self._given and self._watch.seen.batches:
            self._watch.seen.batches[-1].leak = leaks.measure(columns, target)
        labels = tensors.whole_labels(target) if tensors.is_tensor(target) else None
        # A batch that was put together by hand may have its kinds of rows one behind the other.
        self.trained_rows += tensors.spread(tensors.whole_labels(target, limit=_WHOLE) or [], _SPREAD) if labels else []
        if not self._rows.full:
            self._keep(columns, labels or (tensors.numbers(target) if tensors.is_tensor(target) else None))

    def rows_seen(self) -> tuple[str, list[Any], Any]:
        """`tokens` or `numbers`; the rows; their labels."""
        return self._rows.seen()

    def finish(self) -> None:
        """Complete the loaders' facts."""
        training = self.training_loader
        for known in self._loaders.values():
            facts = known.facts
            # Where no loss went backward, the script broke on a batch of the loader that came last: the first may have been a baseline's.
            if known.role == "train" or (training is None and known is (self.current or known)):
                facts.role = "train"
            else:
                facts.role = "eval"
                facts.same_as_train = training is not None and known.dataset is training.dataset
            self._join(facts)
            if self._target(known) is not None:
                facts.label_counts = {}  # of a dataset made since, whose last part was taken for its labels
            if known.labels:
                facts.label_counts = facts.label_counts or {str(label): count for label, count in Counter(known.labels).most_common(200)}
                same = sum(a == b for a, b in zip(known.labels, known.labels[1:], strict=False))
                facts.ordered_rows = len(known.labels)
                facts.label_runs = same / (len(known.labels) - 1) if len(known.labels) > 1 else None

    def _join(self, facts: LoaderFacts) -> None:
        """One record for what a Trainer said of a dataset and its loader showed."""
        said = self._trainer_facts.pop(facts.role, None)
        if said is None:
            return
        facts.columns, facts.dropped_columns, facts.numbers = said.columns, said.dropped_columns, said.numbers
        facts.missed, facts.missed_by = said.missed, said.missed_by
        facts.label_column, facts.label_names = said.label_column, said.label_names
        facts.label_counts = said.label_counts or facts.label_counts
        if said in self._watch.seen.loaders:
            self._watch.seen.loaders.remove(said)
