"""What a collator makes of its rows: whether each row of the batch still stands beside its own label."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import CollationFacts
from harness.frameworks.watch import tensors, torch_batches

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_BATCHES = 4
_NUMBERS = 100_000
_ROWS = 128

Content = dict[str, Counter[float]]


class Collation:
    """Stands between a loader's fetcher and its collator for the first batches."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._left = _BATCHES

    def attach(self) -> None:
        from torch.utils.data._utils import fetch

        self._watch.session.patches.replace(fetch._MapDatasetFetcher, "fetch", self._wrap_fetch)

    def _wrap_fetch(self, original: Any) -> Any:
        from torch.utils.data import default_collate

        session = self._watch.session

        def fetch(fetcher: Any, index: Any) -> Any:
            own = fetcher.collate_fn
            if not session.active or self._left <= 0 or not fetcher.auto_collation or own is default_collate:
                return original(fetcher, index)

            def collate(rows: Any) -> Any:
                before = session.safely("rows before the collator", self._contents, rows)
                batch = own(rows)
                if before is not None:
                    session.safely("a collated batch", self._compare, before, batch)
                return batch

            fetcher.collate_fn = collate
            try:
                return original(fetcher, index)
            finally:
                fetcher.collate_fn = own

        return fetch

    def _contents(self, rows: Any) -> list[tuple[Content, dict[str, float]]] | None:
        """Of each row: the numbers of its parts, and its parts that are one number."""
        self._left -= 1
        if not isinstance(rows, list) or not 1 < len(rows) <= _ROWS:
            return None
        found = [_parts(row) for row in rows]
        return found if sum(len(numbers) for row in found for numbers in row[0].values()) < _NUMBERS else None

    def _compare(self, rows: list[tuple[Content, dict[str, float]]], batch: Any) -> None:
        wanted = _labels_of(rows)
        labels = None if wanted is None else _labels_in(batch, wanted)
        if labels is None or wanted is None or labels.shape not in ((len(rows),), (len(rows), 1)) or len(set(wanted)) < 2:
            return
        made = _rows_of(batch, len(rows))
        # A part that the collator cut, masked or changed tells nothing about whose it is.
        kept = [key for key in made if all(key in content for content, _ in rows)
                and _total(made[key]) >= _total([content[key] for content, _ in rows])]
        if not kept:
            return
        found = [[other for other in (row, *range(row), *range(row + 1, len(rows)))
                  if all(rows[other][0][key] <= made[key][row] for key in kept)] for row in range(len(rows))]
        given: list[float] = labels.reshape(-1).astype(np.float32).tolist()
        renamed = _renaming(wanted, given, found)
        astray = [row for row, others in enumerate(found) if not any(given[row] == renamed[wanted[other]] for other in others)]
        seen = self._watch.seen.collation = self._watch.seen.collation or CollationFacts()
        seen.rows += len(rows)
        seen.astray += len(astray)
        seen.scattered += sum(not others for others in found)


def _labels_in(batch: Any, wanted: list[float]) -> Any:
    """The labels of a batch: of its columns of one number a row the one that holds what the rows' labels were, or what is named so."""
    for column in torch_batches.columns_of(batch).values():
        plain = tensors.array(column)
        if plain is not None and plain.shape in ((len(wanted),), (len(wanted), 1)) and plain.dtype.kind in "iufb" and Counter(
                plain.reshape(-1).astype(np.float32).tolist()) == Counter(wanted):
            return plain
    return tensors.array(torch_batches.labels_in(batch))


def _renaming(wanted: list[float], given: list[float], found: list[list[int]]) -> dict[float, float]:
    """What a collator calls each label: itself where the batch has the same labels, else what most of its rows are called."""
    if Counter(wanted) == Counter(given):
        return {label: label for label in wanted}
    names: dict[float, Counter[float]] = {label: Counter() for label in wanted}
    for label, others in zip(given, found, strict=True):
        if others:
            names[wanted[others[0]]][label] += 1
    return {label: counts.most_common(1)[0][0] if counts else label for label, counts in names.items()}


def _parts(row: Any) -> tuple[Content, dict[str, float]]:
    contents: Content = {}
    single: dict[str, float] = {}
    for key, value in torch_batches.columns_of(row).items():
        plain = tensors.array(value)
        if plain is None and isinstance(value, list | int | float):
            plain = _flat(value)
        if plain is None or plain.dtype.kind not in "iufb":
            continue
        if plain.size == 1 and plain.ndim <= 1:
            single[key] = float(np.float32(plain.reshape(-1)[0]))
        elif plain.size:
            contents[key] = Counter(plain.reshape(-1).astype(np.float32).tolist())
    return contents, single


def _flat(value: Any) -> np.ndarray[Any, Any] | None:
    """Numbers of nested lists, also of ragged ones; None where there is anything else."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += item
        elif isinstance(item, int | float):
            found.append(item)
        else:
            return None
    plain: np.ndarray[Any, Any] = np.asarray(found if isinstance(value, list) else value, dtype=np.float64)
    return plain


def _labels_of(rows: list[tuple[Content, dict[str, float]]]) -> list[float] | None:
    """The label of each row before it was collated: under a usual name, or the only number of its own."""
    keys = [key for key in rows[0][1] if all(key in single for _, single in rows)]
    named = [key for key in keys if key in torch_batches.LABELS]
    chosen = named[:1] or (keys if len(keys) == 1 else [])
    return [single[chosen[0]] for _, single in rows] if chosen else None


def _rows_of(batch: Any, count: int) -> dict[str, list[Counter[float]]]:
    """Of each part of the batch with one entry for each row: the numbers in it."""
    found = {}
    for key, value in torch_batches.columns_of(batch).items():
        plain = tensors.array(value)
        if plain is not None and plain.ndim > 1 and plain.shape[0] == count and plain.size < _NUMBERS and plain.dtype.kind in "iufb":
            found[key] = [Counter(row.reshape(-1).astype(np.float32).tolist()) for row in plain]
    return found


def _total(contents: list[Counter[float]]) -> Counter[float]:
    return sum(contents, Counter[float]())
