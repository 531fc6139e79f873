"""Whole numbers that a script makes one of, where they were two: a label that stands for nothing, clipped into the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.value_facts import MergeFacts
from harness.frameworks.watch import tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_LINES, _CALLS, _LEAST, _VALUES = 8, 400, 8, 64
_LARGEST, _PLACES = 1 << 20, 1 << 22  # numbers that are looked at of one call, and on one line

Array = np.ndarray[Any, Any]


class Merging:
    """What the calls on each line have changed, until there were enough of them."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._kept: dict[Place, MergeFacts] = {}

    def heard(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        """`function` was called with these and returned what it `made`: of whole numbers it is looked at which became others."""
        shape = getattr(made, "shape", None)
        if not isinstance(shape, tuple) or not shape or not self._whole(made):
            return
        place = self._session.sites.direct()
        if place is None or (place not in self._kept and len(self._kept) >= _LINES):
            return
        facts = self._kept.get(place)
        if facts is not None and (facts.calls >= _CALLS or facts.places >= _PLACES):
            return
        with self._session.paused():
            after = _plain(made)
            before = next((part for part in map(_plain, self._given(function, args, kwargs)) if part is not None
                           and after is not None and part.shape == after.shape and part.dtype.kind in "iu"), None)
        if after is None or before is None or after.size < _LEAST:
            return
        if facts is None:
            facts = self._kept[place] = MergeFacts(shape=list(after.shape), site=site(place))
            self._session.observation.merges.append(facts)
        apart = after.size // _LARGEST + 1
        _add(facts, before.reshape(-1)[::apart], after.reshape(-1)[::apart])

    @staticmethod
    def _whole(made: Any) -> bool:
        kind = getattr(getattr(made, "dtype", None), "kind", None)
        return kind in ("i", "u") if kind is not None else "int" in str(getattr(made, "dtype", ""))

    @staticmethod
    def _given(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What the numbers may have been before: what a method belongs to, or the arguments."""
        own = getattr(function, "__self__", None)
        return [part for part in (own, *args, *kwargs.values()) if hasattr(part, "shape") and hasattr(part, "dtype")]


def _plain(value: Any) -> Array | None:
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    return value if isinstance(value, np.ndarray) else tensors.array(value)


def _add(facts: MergeFacts, before: Array, after: Array) -> None:
    changed = before != after
    facts.calls, facts.places, facts.changed = facts.calls + 1, facts.places + int(after.size), facts.changed + int(changed.sum())
    for name, values in (("before", before), ("after", after), ("replaced", before[changed]), ("by", after[changed])):
        known = getattr(facts, name)
        if len(known) < _VALUES:
            setattr(facts, name, sorted({*known, *(int(value) for value in np.unique(values)[:_VALUES])}))
