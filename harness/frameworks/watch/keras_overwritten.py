"""Datasets of Keras's that change what they store whenever a batch is read: a slice of an array is a view, and what it is given stays.

After the script, some batches are read several times from a twin that has copies of what the dataset stores.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import OverwrittenFacts
from harness.frameworks.watch import row_seeds, written
from harness.frameworks.watch.keras_state import generators_kept
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.torch_state import own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_SECONDS, _LARGEST = 0.5, 1 << 26
_BATCHES, _READINGS, _LEAST = 4, 4, 2

Array = np.ndarray[Any, Any]


def measure(watch: KerasWatcher) -> None:
    """Enters what reading does to the rows that are trained on."""
    own = watch.data.current.source if watch.data.current is not None else None
    code = getattr(getattr(type(own), "__getitem__", None), "__code__", None)
    if code is None or not hasattr(own, "__len__") or not watch.session.sites.is_own(code.co_filename):
        return
    loader = watch.data.current
    if own is not None and loader is not None and loader.came > len(own):
        watch.session.noted("seeded_rows", row_seeds.written(getattr(type(own), "__getitem__", None), watch.session.sites))
    stored = {name: value for name, value in vars(own).items()
              if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "iuf"}
    if not stored or sum(value.nbytes for value in stored.values()) > _LARGEST:
        return
    twin = copy.copy(own)
    for name, value in stored.items():
        object.__setattr__(twin, name, value.copy())
    with generators_kept(), own_generators_kept(own):
        found = _read(twin, list(stored))
    if found is not None:
        watch.seen.overwritten = found
        watch.session.site("overwritten", site(written.read(type(own), found.attribute, watch.session.sites)))


def _read(twin: Any, names: list[str]) -> OverwrittenFacts | None:
    begun, batches = time.monotonic(), 0
    changed: dict[str, list[tuple[int, float]]] = {}
    for number in np.linspace(0, len(twin) - 1, min(_BATCHES, len(twin))).astype(int).tolist():
        first = {name: getattr(twin, name).copy() for name in names}
        twin[number]
        before = {name: getattr(twin, name).copy() for name in names}  # what is kept at the first reading, a cache, stays as it is
        given: list[Array] = []
        for _ in range(_READINGS - 1):
            given = [part for part in _arrays(twin[number]) if part.ndim]
        for name in names:
            after = getattr(twin, name)
            rows = _rows_differing(before[name], after)
            # A buffer that is filled anew for every batch holds no other rows than those that are given.
            if any(_taken_from(after, part, rows) for part in given):
                differing = after[rows] != first[name][rows]
                changed.setdefault(name, []).append((len(rows), float(differing.mean())))
        batches += 1
        if time.monotonic() - begun > _SECONDS:
            break
    attribute = max(changed, key=lambda name: len(changed[name]), default=None)
    if attribute is None or len(changed[attribute]) < min(_LEAST, batches):
        return None
    each = changed[attribute]
    return OverwrittenFacts(attribute=attribute, rows=sum(rows for rows, _ in each), readings=_READINGS,
                            share=sum(share for _, share in each) / len(each))


def _arrays(given: Any) -> list[Array]:
    parts = given.values() if isinstance(given, dict) else given if isinstance(given, tuple | list) else [given]
    return [found for part in parts for found in (_arrays(part) if isinstance(part, dict | tuple | list) else [part])
            if isinstance(found, np.ndarray)]


def _rows_differing(before: Array, after: Array) -> list[int]:
    if before.shape != after.shape:
        return []
    differing = ~np.isclose(before, after, rtol=0, atol=0, equal_nan=True)
    return [int(row) for row in np.flatnonzero(differing.reshape(len(after), -1).any(1))]


def _taken_from(stored: Array, part: Array, rows: list[int]) -> bool:
    """Whether a part of a batch is a view of a few of the stored rows, among them those that have changed."""
    return bool(rows) and len(rows) <= len(part) < len(stored) and np.may_share_memory(stored, part)
