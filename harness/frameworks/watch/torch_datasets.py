"""What is under a loader: the dataset, its order, its columns and labels."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.checks.data_facts import LoaderFacts
from harness.frameworks.watch import tensors
from harness.frameworks.watch.torch_batches import LABELS
from harness.frameworks.watch.torch_state import generators_kept, own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CHEAP_ROWS = 200_000
_CLASSES = 1000


def loader_facts(loader: Any) -> LoaderFacts:
    """Facts of a `DataLoader` that can be had without iterating it."""
    dataset = loader.dataset
    facts = LoaderFacts(kind=type(loader).__name__, dataset_kind=type(dataset).__name__, batch_size=_batch_size(loader),
                        rows=_length(dataset), batches=_length(loader), shuffled=shuffled(loader), replaces=_replaces(loader),
                        collator=_name(loader.collate_fn), weighed=_weighed(loader), whole=_length(dataset))
    try:
        _describe_dataset(facts, dataset, _drawn(loader))
    except Exception:  # noqa: BLE001 - a user's dataset may refuse anything
        return facts
    return facts


def whole(dataset: Any) -> Any:
    """The dataset that a part of it, as `random_split` makes one, was taken from."""
    while type(dataset).__module__ == "torch.utils.data.dataset" and hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    return dataset


def texts(watch: TorchWatcher, dataset: Any) -> None:
    """Tells of the texts that a dataset of the script's own holds; its random generators, and torch's, are put back where it is read."""
    own = whole(dataset)

    @contextlib.contextmanager
    def kept() -> Iterator[None]:
        with generators_kept(watch.torch), own_generators_kept(own):
            yield

    watch.session.wholes.read(own, kept)


def _batch_size(loader: Any) -> int | None:
    """Rows of a batch; loaders that were rebuilt around a sampler (accelerate does) keep it there."""
    sampler: Any = loader
    for _ in range(4):
        size = getattr(sampler, "batch_size", None)
        if isinstance(size, int):
            return size
        sampler = getattr(sampler, "batch_sampler", None)
    return None


def _length(value: Any) -> int | None:
    try:
        return len(value)
    except Exception:  # noqa: BLE001 - iterable datasets have none, and raise what they like
        return None


def _name(collate: Any) -> str | None:
    inner = getattr(collate, "data_collator", None)  # the Trainer's own, around the user's
    if inner is not None:
        return _name(inner)
    return getattr(collate, "__name__", None) or type(collate).__name__


def _under(owner: Any) -> Any:
    """The sampler that a loader or a sampler takes its rows from; whether it is empty must not be asked, since it may have no length."""
    found = (getattr(owner, name, None) for name in ("batch_sampler", "sampler"))
    return next((sampler for sampler in found if sampler is not None), None)


def shuffled(loader: Any) -> bool | None:
    """Whether a loader's order is random, None where its sampler does not tell."""
    from torch.utils.data import RandomSampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler

    sampler: Any = _under(loader)
    for _ in range(4):
        if isinstance(sampler, RandomSampler | SubsetRandomSampler | WeightedRandomSampler):
            return True
        if isinstance(sampler, SequentialSampler):
            return False
        if hasattr(sampler, "shuffle") and isinstance(sampler.shuffle, bool):
            return sampler.shuffle
        if type(sampler).__name__ == "LengthGroupedSampler":
            return True
        inner = _under(sampler)
        if inner is None or inner is sampler:
            return None
        sampler = inner
    return None


def _replaces(loader: Any) -> bool:
    """Whether a sampler under a loader draws with replacement, or may do so."""
    sampler: Any = _under(loader)
    for _ in range(4):
        if sampler is None:
            return False
        if getattr(sampler, "replacement", False) or not type(sampler).__module__.startswith(("torch.", "transformers.", "accelerate.")):
            return True
        sampler = _under(sampler)
    return False


def _drawn(loader: Any) -> list[int] | None:
    """The places of the rows that a sampler under a loader draws from, where it leaves some out for good; else None."""
    from torch.utils.data import SubsetRandomSampler, WeightedRandomSampler

    sampler: Any = _under(loader)
    for _ in range(4):
        if isinstance(sampler, SubsetRandomSampler):
            return [int(place) for place in sampler.indices]
        if isinstance(sampler, WeightedRandomSampler):
            places: list[int] = sampler.weights.nonzero().flatten().tolist()
            return places if len(places) < len(sampler.weights) else None
        sampler = _under(sampler)
    return None


def _weighed(loader: Any) -> int | None:
    """How many weights a sampler under a loader draws by, where these are fewer than there are rows; else None."""
    from torch.utils.data import WeightedRandomSampler

    sampler, rows = _under(loader), _length(loader.dataset)
    for _ in range(4):
        if isinstance(sampler, WeightedRandomSampler):
            return len(sampler.weights) if rows is not None and len(sampler.weights) < rows else None
        sampler = _under(sampler)
    return None


def _describe_dataset(facts: LoaderFacts, dataset: Any, drawn: list[int] | None) -> None:
    """`drawn`: the places of the rows that are ever drawn; None for all."""
    if drawn is not None:
        facts.rows = len(drawn)
    if hasattr(dataset, "column_names") and hasattr(dataset, "features"):
        describe_hf(facts, dataset)
        return
    labels = _labels(dataset)
    if labels is not None and drawn is not None:
        labels = [labels[place] for place in drawn[:_CHEAP_ROWS]]
    if labels is not None:
        facts.label_counts = count(labels)


def describe_hf(facts: LoaderFacts, dataset: Any) -> None:
    """Columns, label column, label names and counts of a `datasets.Dataset`."""
    names = dataset.column_names
    facts.columns = list(names or [])
    facts.numbers = [name for name, feature in (dataset.features or {}).items() if _number(feature)]
    facts.label_column = next((name for name in LABELS if name in facts.columns), None)
    if facts.label_column is None or not dataset.features:
        return
    facts.label_names = list(getattr(dataset.features[facts.label_column], "names", None) or [])
    rows = _length(dataset)
    if rows is not None and rows <= _CHEAP_ROWS:
        values = dataset.with_format("numpy").select_columns([facts.label_column])[:][facts.label_column]
        whole = tensors.whole_labels(values, limit=_CHEAP_ROWS)
        facts.label_counts = count(whole) if whole else {}


def _number(feature: Any) -> bool:
    kind = str(getattr(feature, "dtype", ""))  # a list of numbers has a dtype of its own, "list"
    return type(feature).__name__ in {"Value", "ClassLabel"} and kind.startswith(("int", "uint", "float", "bool"))


def _labels(dataset: Any) -> list[Any] | None:
    """The labels of all rows where a dataset keeps them at hand: tensors, targets of image sets, subsets of these."""
    indices = getattr(dataset, "indices", None)
    if indices is not None and hasattr(dataset, "dataset"):
        whole = _labels(dataset.dataset)
        return None if whole is None else [whole[int(index)] for index in list(indices)[:_CHEAP_ROWS]]
    parts = getattr(dataset, "tensors", None)
    if isinstance(parts, tuple) and len(parts) > 1:
        found: Any = parts[-1]
    else:
        own = getattr(dataset, "__dict__", {})
        found = next((own[name] for name in ("targets", "labels", "y", "target") if name in own), None)
    if isinstance(found, list | tuple) and found and isinstance(found[0], int):
        return list(found[:_CHEAP_ROWS])
    if found is None or isinstance(found, list | tuple):
        return None
    return tensors.whole_labels(found, limit=_CHEAP_ROWS)


def count(labels: list[Any]) -> dict[str, int]:
    """How often each label occurs; empty where there are too many kinds for classes."""
    counted = Counter(labels)
    return {str(label): number for label, number in sorted(counted.items())} if len(counted) <= _CLASSES else {}
