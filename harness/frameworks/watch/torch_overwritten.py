"""Datasets that change what they store whenever a row is read: a row of a tensor or array is a view, and writing into it stays.

After the script, some rows are read several times from a twin that has copies of what the dataset stores.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import OverwrittenFacts
from harness.frameworks.watch import tensors, torch_batches, torch_datasets, written
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.torch_state import generators_kept, own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_SECONDS, _LARGEST = 0.5, 1 << 28
_ROWS, _READINGS, _LEAST = 8, 6, 2


def measure(watch: TorchWatcher) -> None:
    """Enters what reading does to the rows that are trained on; not where other processes read them, each from a copy of its own."""
    loader = watch.data.training_loader
    if loader is None or getattr(loader.ref(), "num_workers", False):
        return
    own = torch_datasets.whole(loader.dataset)
    stored = _stored(own) if hasattr(type(own), "__getitem__") and watch.session.sites.is_own(_file(own)) else {}
    size = sum(part.nbytes for value in stored.values() for part in (value if isinstance(value, list) else [value]))
    if not stored or size > _LARGEST:
        return
    twin = copy.copy(own)
    for name, value in stored.items():
        object.__setattr__(twin, name, copy.deepcopy(value))
    with generators_kept(watch.torch), own_generators_kept(own):
        found = _read(twin, list(stored))
    if found is not None:
        watch.seen.overwritten = found
        watch.session.site("overwritten", site(written.read(type(own), found.attribute, watch.session.sites)))


def _file(dataset: Any) -> str:
    code = getattr(type(dataset).__getitem__, "__code__", None)
    return str(getattr(code, "co_filename", ""))


def _stored(dataset: Any) -> dict[str, Any]:
    """The attributes of a dataset that hold a tensor or array a row."""
    def holds(value: Any) -> bool:
        plain = tensors.is_tensor(value) or isinstance(value, np.ndarray)
        return bool(plain and value.ndim) or (isinstance(value, list) and all(
            (tensors.is_tensor(part) or isinstance(part, np.ndarray)) and part.ndim for part in value))

    rows = len(dataset)
    return {name: value for name, value in vars(dataset).items() if holds(value) and len(value) == rows > 0}


def _read(twin: Any, names: list[str]) -> OverwrittenFacts | None:
    begun, read = time.monotonic(), 0
    changed: dict[str, list[float]] = {}
    for number in np.linspace(0, len(twin) - 1, min(_ROWS, len(twin))).astype(int).tolist():
        def row_of(name: str, number: int = number) -> Any:
            return _array(getattr(twin, name)[number])

        first, again = {name: row_of(name) for name in names}, None
        for _ in range(_READINGS):
            if time.monotonic() - begun > _SECONDS:
                break
            before = {name: row_of(name) for name in names}
            given = [_array(part) for part in torch_batches.columns_of(twin[number]).values()]
            # What is kept at the first reading, a cache, stays as it is at the second; a count of readings is no part of a row.
            again = again or next((name for name in names if _differing(before[name], first[name]) and _differing(
                row_of(name), before[name]) and any(_same(part, row_of(name)) for part in given)), None)
        read += 1
        if again is not None:
            changed.setdefault(again, []).append(_differing(first[again], row_of(again)))
    attribute = max(changed, key=lambda name: len(changed[name]), default=None)
    if attribute is None or len(changed[attribute]) < _LEAST:
        return None
    return OverwrittenFacts(attribute=attribute, rows=read, readings=_READINGS, share=sum(changed[attribute]) / read)


def _differing(one: Any, other: Any) -> float:
    """Share of the values that differ."""
    return float(1 - np.isclose(one.astype(float), other.astype(float), rtol=0, atol=0, equal_nan=True).mean())


def _array(value: Any) -> Any:
    return np.array(tensors.array(value) if tensors.is_tensor(value) else value)


def _same(part: Any, stored: Any) -> bool:
    return bool(part.size == stored.size and part.ndim and np.array_equal(part.reshape(-1), stored.reshape(-1)))
