"""What `fit` was given: arrays, a `tf.data.Dataset`, a sequence or a generator; the batches and the order in which they come."""

from __future__ import annotations

import inspect
import weakref
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import ApartFacts, BatchFacts, LoaderFacts
from harness.checks.tensor_facts import TensorFacts
from harness.frameworks.watch import tensors, torch_batches
from harness.frameworks.watch.kept_rows import KeptRows
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.overlaps import Overlaps
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_UNPADDED = ("_BatchDataset", "_ParallelBatchDataset")
_MULTIPLYING = ("FlatMap", "Interleave", "ParallelInterleave", "Generator", "Unbatch", "Filter", "Window")
_ENOUGH = 0.2  # of the rows, in a buffer that shuffles
_BATCHES = 4
_ORDERED = 4096
_CHEAP_ROWS = 200_000
_DEFAULT_ROWS = 32


@dataclass
class Loader:
    """What one `fit` reads from. `labels` in the order in which they came; `came`: batches so far."""

    facts: LoaderFacts
    source: Any
    labels: list[Any] = field(default_factory=list)
    came: int = 0

    @property
    def numbered(self) -> bool:
        """Whether it is an object that gives whole batches by their number."""
        return hasattr(self.source, "__getitem__") and self.facts.kind not in ("arrays", "tf.data.Dataset", "to_tf_dataset", "generator")

    @property
    def in_first_pass(self) -> bool:
        """Whether each row so far was another one of the dataset, though their contents may be the same."""
        known = self.facts.kind in ("arrays", "tf.data.Dataset") and not self.facts.replaces
        return known and self.came <= (self.facts.batches or 0)


class Data:
    """Hooks the making of datasets; the batches are told by the steps."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._places: dict[int, tuple[Any, Place | None, tuple[Place, ...]]] = {}
        self._sources: dict[int, tuple[Any, LoaderFacts]] = {}
        self.tokenizers: list[Any] = []
        self.current: Loader | None = None
        self._all: list[Loader] = []
        self._rows = KeptRows()
        self._overlaps = Overlaps()

    def attach(self) -> None:
        session = self._watch.session
        import tensorflow as tf

        session.patches.replace(tf.data.Dataset, "__init__", self._wrap_dataset)
        session.when_imported("datasets.arrow_dataset", self._hook_datasets)
        session.when_imported("transformers.tokenization_utils_base", self._hook_tokenizers)

    def _wrap_dataset(self, original: Any) -> Any:
        session = self._watch.session

        def __init__(dataset: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(dataset, *args, **kwargs)
            if session.active and len(self._places) < 5000:
                self._places[id(dataset)] = (weakref.ref(dataset), session.sites.place(skip=dataset), session.sites.stack())

        return __init__

    def _hook_datasets(self, module: Any) -> None:
        session = self._watch.session

        def wrap(original: Any) -> Any:
            def to_tf_dataset(dataset: Any, *args: Any, **kwargs: Any) -> Any:
                made = original(dataset, *args, **kwargs)
                if session.active:
                    given = inspect.signature(original).bind(dataset, *args, **kwargs).arguments
                    session.safely("to_tf_dataset", self._of_hf, dataset, made, given)
                return made

            return to_tf_dataset

        session.patches.replace(module.Dataset, "to_tf_dataset", wrap)

    def _of_hf(self, dataset: Any, made: Any, given: dict[str, Any]) -> None:
        from harness.frameworks.watch.torch_datasets import describe_hf

        facts = LoaderFacts(kind="to_tf_dataset", dataset_kind=type(dataset).__name__, batch_size=given.get("batch_size"),
                            rows=len(dataset), shuffled=bool(given.get("shuffle")) or dataset._indices is not None,
                            site=self._watch.session.sites.here())
        collate = given.get("collate_fn")
        facts.collator = getattr(collate, "__name__", None) or (type(collate).__name__ if collate is not None else "default")
        describe_hf(facts, dataset)
        kept = [name for key in ("columns", "label_cols") for name in _listed(given.get(key))]
        facts.dropped_columns = [name for name in facts.columns if kept and name not in kept]
        self._sources[id(made)] = (made, facts)
        self._watch.session.site("loader", facts.site)

    def _hook_tokenizers(self, module: Any) -> None:
        session = self._watch.session

        def wrap(original: Any) -> Any:
            def __init__(tokenizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
                original(tokenizer, *args, **kwargs)
                if session.active:
                    self.tokenizers.append(tokenizer)

            return __init__

        session.patches.replace(module.PreTrainedTokenizerBase, "__init__", wrap)

    # A fit begins

    def begins(self, given: dict[str, Any]) -> None:
        """`fit` was called with these arguments."""
        x, y = given.get("x"), given.get("y")
        if hasattr(x, "element_spec"):
            facts = self._of_dataset(x)
        elif hasattr(x, "__getitem__") and hasattr(x, "__len__") and not hasattr(x, "shape") and not isinstance(x, list | tuple | dict):
            facts = LoaderFacts(kind=type(x).__name__, batches=_length(x), shuffled=None if given.get("shuffle", True) else False)
            torch_batches.places(self._watch.session, getitem=getattr(type(x), "__getitem__", None))
        elif inspect.isgenerator(x) or (hasattr(x, "__next__") and not hasattr(x, "shape")):
            facts = LoaderFacts(kind="generator", shuffled=False)
        else:
            facts = self._of_arrays(x, y, given)
        facts.site = facts.site or self._watch.seen.sites.get("fit")
        if self.current is None or self.current.source is not x:
            self.current = Loader(facts, x)
            self._all.append(self.current)
            if len(self._watch.seen.loaders) < 8:
                self._watch.seen.loaders.append(facts)

    def _of_arrays(self, x: Any, y: Any, given: dict[str, Any]) -> LoaderFacts:
        rows = next((_length(part) for part in _parts(x) if hasattr(part, "__len__")), None)
        size = given.get("batch_size") or _DEFAULT_ROWS
        shuffle = given.get("shuffle", True)
        split = float(given.get("validation_split") or 0.0)
        trained = int(rows * (1 - split)) if rows is not None else None
        facts = LoaderFacts(kind="arrays", batch_size=size, rows=trained, shuffled=shuffle if isinstance(shuffle, bool) else None,
                            batches=-(-trained // size) if trained else None)
        facts.objects = next((list(part.shape) for part in _parts(x)
                              if isinstance(part, np.ndarray) and part.dtype.kind == "O" and part.ndim > 1), None)
        labels = class_ids(numpy_of(y) if hasattr(y, "numpy") else y, limit=_CHEAP_ROWS)
        if labels is not None and trained is not None and rows is not None and rows <= _CHEAP_ROWS:
            facts.label_counts = _counted(labels[:trained])
        return facts

    def _of_dataset(self, dataset: Any) -> LoaderFacts:
        """Facts of a `tf.data.Dataset`, from what it was made of."""
        chain = chain_of(dataset)
        self._watch.seen.apart = self._watch.seen.apart or self._apart(chain)
        known = next((self._sources[id(part)][1] for part in chain if id(part) in self._sources), None)
        batch = next((number for number, part in enumerate(chain) if "Batch" in type(part).__name__), None)
        upstream = chain[batch:] if batch is not None else chain
        mixed = [part for part in upstream if "Shuffle" in type(part).__name__]
        # What is made out of one element may be any number of them.
        last = next((at for at, part in enumerate(upstream) if type(part).__name__.strip("_").startswith(_MULTIPLYING)), len(upstream))
        rows = next((count for part in reversed(upstream[1:last]) if (count := _cardinality(part)) is not None), None)
        if known is not None:
            known.shuffled = known.shuffled or bool(mixed)
            return known
        made = (self.place_of(part) for part in ([chain[batch]] if batch is not None else []) + [dataset])
        place = next((found for found in made if found is not None), None)
        size = getattr(chain[batch], "_batch_size", None) if batch is not None else None
        buffers = [int(part._buffer_size) for part in mixed if hasattr(part, "_buffer_size")]
        enough = bool(mixed) and (rows is None or not buffers or max(buffers) >= _ENOUGH * rows)
        return LoaderFacts(kind="tf.data.Dataset", dataset_kind=type(chain[-1]).__name__, rows=rows,
                           batch_size=int(size) if size is not None else None, shuffled=enough, batches=_cardinality(dataset),
                           buffer=max(buffers, default=None),
                           replaces=any("Repeat" in type(part).__name__ for part in chain), site=site(place))

    def _apart(self, chain: list[Any]) -> ApartFacts | None:
        """Inputs and targets that are zipped after each was shuffled for itself, where what is read still has the shape of the pair."""
        for part in chain:
            zipped = getattr(part, "_datasets", None) if type(part).__name__ == "_ZipDataset" else None
            if zipped is not None:
                pair = isinstance(zipped, tuple) and len(zipped) == 2 and not any(
                    isinstance(getattr(one, "element_spec", ()), tuple) for one in zipped)
                if not pair or _order(zipped[0]) == _order(zipped[1]):
                    return None
                rows = [_cardinality(chain_of(one)[-1]) for one in zipped]
                sites = [site(self.place_of(one)) for one in zipped]
                # One label repeated beside many rows is no pair that could come apart.
                return ApartFacts(inputs=sites[0], targets=sites[1], steps=1) if rows[0] == rows[1] and (rows[0] or 0) > 1 else None
            if not isinstance(part.element_spec, tuple) or "Map" in type(part).__name__:
                return None
        return None

    def place_of(self, dataset: Any) -> Place | None:
        """Where a dataset was made."""
        found = self._places.get(id(dataset))
        return found[1] if found is not None and found[0]() is dataset else None

    def asked_at(self, dataset: Any) -> Place | None:
        """Where a helper was called that made a dataset, if it made others at the same line for other callers; else where it was made."""
        place, (_, _, stack) = self.place_of(dataset), self._places.get(id(dataset), (None, None, ()))
        others = {other for _, made, other in self._places.values() if made == place and other != stack}
        shared = len(stack) > 1 and stack[0] == place and any(len(other) > 1 and other[1] != stack[1] for other in others)
        return stack[1] if shared else place

    # Batches

    def came(self, data: Any) -> tuple[dict[str, Any], list[Any] | None]:
        """A training batch: its columns as arrays and its labels. Describes the first ones, and keeps rows for the baseline."""
        columns = columns_of(data)
        labels = class_ids(torch_batches.labels_in(columns))
        if len(self._watch.seen.batches) < _BATCHES:
            self._watch.seen.batches.append(self.describe(columns))
            moved = self._overlaps.moved(columns.get(main_input(columns) or ""), torch_batches.labels_in(columns))
            self._watch.seen.batches[-1].moved = moved
        if self.current is not None:
            self.current.came += 1
            self.current.labels += labels or [] if len(self.current.labels) < _ORDERED else []
        if not self._rows.full:
            self._keep(columns, labels or tensors.numbers(torch_batches.labels_in(columns)))
        return columns, labels

    def describe(self, columns: dict[str, Any]) -> BatchFacts:
        """Facts of a batch; its inputs under the name that the model's main input has."""
        seen = torch_batches.facts(columns, self.tokenizers)
        for name, value in columns.items():
            if name in seen.columns and getattr(getattr(value, "dtype", None), "kind", "") in "OSU":
                seen.columns[name] = TensorFacts(shape=tuple(value.shape), dtype="string")
        torch_batches.fill(seen, columns, getattr(self._watch.steps.model, "config", None))
        seen.inputs_key = seen.inputs_key or main_input(columns)
        seen.layout = torch_batches.layout_of(columns, seen.inputs_key)
        seen.labels = class_ids(torch_batches.labels_in(columns))
        return seen

    def _keep(self, columns: dict[str, Any], labels: list[Any] | None) -> None:
        data = columns.get(main_input(columns) or "")
        if labels is None or not isinstance(data, np.ndarray) or data.ndim < 1 or len(data) != len(labels) or data.dtype.kind not in "iufb":
            return
        alone = self.current if len(self._all) == 1 else None
        self._rows.add(data, labels, columns.get("attention_mask"), first=alone is not None and alone.in_first_pass,
                       whole=alone.facts.rows if alone is not None and not alone.facts.replaces else None)

    def rows_seen(self) -> tuple[str, list[Any], Any]:
        """`tokens` or `numbers`; the rows; their labels."""
        return self._rows.seen()

    def broken(self) -> None:
        """The script's fit raised before a step was seen: describe a batch, if what it reads from can give one again."""
        if self.current is None or self._watch.seen.batches:
            return
        source = self.current.source
        if hasattr(source, "element_spec"):
            first = next(iter(source.take(1)), None)
        elif hasattr(source, "__getitem__") and not isinstance(source, list | tuple | dict) and not hasattr(source, "shape"):
            first = source[0]
        else:
            first = None
        if first is not None:
            self._watch.seen.batches.append(self.describe(columns_of(first)))

    def batched(self, error: BaseException | None) -> None:
        """Where the dataset that was read when the script ended with an exception is batched, without padding."""
        read, trace = [], error.__traceback__ if error is not None else None
        while trace is not None:
            read.append(getattr(trace.tb_frame.f_locals.get("self"), "_dataset", None))
            trace = trace.tb_next
        source = self.current.source if self.current is not None else None
        dataset = next((found for found in reversed([source, *read]) if hasattr(found, "element_spec")), None)
        while dataset is not None and type(dataset).__name__ not in _UNPADDED:
            dataset = next(iter(dataset._inputs()), None)
        place = self.place_of(dataset) if dataset is not None and error is not None else None
        self._watch.session.noted("batched", place)

    def finish(self) -> None:
        """Complete the loaders' facts."""
        if any(batch.ends or batch.pieced_astray for batch in self._watch.seen.batches):
            torch_batches.places(self._watch.session)
        for known in self._all:
            if known.labels:
                known.facts.label_counts = known.facts.label_counts or _counted(known.labels)
                same = sum(a == b for a, b in zip(known.labels, known.labels[1:], strict=False))
                known.facts.ordered_rows = len(known.labels)
                if known.facts.buffer is not None and known.facts.rows is None:
                    known.facts.shuffled = known.facts.buffer >= _ENOUGH * len(known.labels)
                known.facts.label_runs = same / (len(known.labels) - 1) if len(known.labels) > 1 else None


def columns_of(data: Any) -> dict[str, Any]:
    """A batch `(x, y, sample_weight)`, or `x` alone, as arrays by name: a dict's own keys, else `x`, `y`, `sample_weight`."""
    parts = data if isinstance(data, tuple) else (data,)
    found: dict[str, Any] = {}
    for name, part in zip(("x", "y", "sample_weight"), parts, strict=False):
        if part is None:
            continue
        if hasattr(part, "items"):
            found |= {str(key): numpy_of(value) for key, value in part.items()}
        elif isinstance(part, list | tuple) and len(part) > 1:
            found |= {f"{name}{number}": numpy_of(value) for number, value in enumerate(part)}
        else:
            found[name] = numpy_of(part[0] if isinstance(part, list | tuple) and part else part)
    return found


def main_input(columns: dict[str, Any]) -> str | None:
    """The column that a model works on: under one of the usual names, else the first that is no label."""
    for name in ("input_ids", "pixel_values", "input_values", "input_features"):
        if name in columns:
            return name
    return next((name for name in columns if name not in (*torch_batches.LABELS, "sample_weight", "attention_mask")), None)


def class_ids(value: Any, limit: int = 512) -> list[Any] | None:
    """Labels of the rows where there is one whole number a row, or a one-hot row; else None."""
    if value is None or isinstance(value, dict):
        return None
    try:
        data = np.asarray(value)
    except (ValueError, TypeError):
        return None
    if data.ndim == 2 and data.shape[1] > 1 and data.dtype.kind in "iufb" and data.size:
        part = data[:limit]
        if bool(((part == 0) | (part == 1)).all()) and bool((part.sum(1) == 1).all()):
            return [int(label) for label in part.argmax(1)]
        return None
    return tensors.whole_labels(data, limit=limit)


def _counted(labels: list[Any]) -> dict[str, int]:
    return {str(label): count for label, count in Counter(labels).most_common(200)}


def chain_of(dataset: Any) -> list[Any]:
    """A dataset and what it is made of, outermost first."""
    found = [dataset]
    while len(found) < 40:
        inner = getattr(found[-1], "_input_dataset", None)
        if inner is None:
            more = getattr(found[-1], "_input_datasets", None) or getattr(found[-1], "_datasets", None)
            inner = next((part for part in _leaves(more) if hasattr(part, "element_spec")), None)
        if inner is None:
            break
        found.append(inner)
    return found


def _leaves(parts: Any) -> list[Any]:
    if isinstance(parts, dict):
        parts = list(parts.values())
    return [leaf for part in parts for leaf in _leaves(part)] if isinstance(parts, list | tuple) else [parts]


def _order(dataset: Any) -> list[tuple[int, ...]]:
    """What the order of the rows follows from: buffer and seeds of every shuffling that a dataset went through.

    Two seeds of 0 stand for chance, which no other shuffling shares.
    """
    mixed = [part for part in chain_of(dataset) if type(part).__name__ == "_ShuffleDataset"]
    seeds = [(int(part._buffer_size), int(part._seed), int(part._seed2)) for part in mixed]
    return [(*seed, 0 if any(seed[1:]) else id(part)) for seed, part in zip(seeds, mixed, strict=True)]


def _cardinality(dataset: Any) -> int | None:
    try:
        count = int(dataset.cardinality())
    except Exception:  # noqa: BLE001 - a dataset of the script's own may refuse
        return None
    return count if count >= 0 else None


def _length(value: Any) -> int | None:
    try:
        return len(value)
    except Exception:  # noqa: BLE001 - generators have none
        return None


def _parts(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return list(x.values())
    return list(x) if isinstance(x, list | tuple) and x and hasattr(x[0], "shape") else [x]


def _listed(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)
