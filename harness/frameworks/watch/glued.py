"""Tables of pandas that are put side by side by their places, although their rows come in two orders."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.table_facts import GluedFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_KEPT, _LEAST, _MOST, _FRAMES = 16, 50, 500_000, 12

Array = np.ndarray[Any, Any]


class Glued:
    """Remembers the indexes that `reset_index(drop=True)` has dropped (after `groupby`, say, which sorts by it), and looks, where such a
    table is put beside another one, for the table that the other one's columns come from: are the same values there in the same order?"""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._dropped: dict[int, tuple[weakref.ref[Any], str, Array]] = {}

    def attach(self) -> None:
        """Hook pandas once the script imports it."""
        self._session.when_imported("pandas", self._hook)

    def _hook(self, pandas: Any) -> None:
        self._session.patches.replace(pandas.DataFrame, "reset_index", self._wrap_reset)
        self._session.patches.replace(pandas, "concat", self._wrap_concat)

    def _wrap_reset(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def reset_index(frame: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(frame, *args, **kwargs)
            if kwargs.get("drop") and made is not None and session.active:
                session.safely("an index that is dropped", self._drops, frame, made)
            return made

        return reset_index

    def _drops(self, frame: Any, made: Any) -> None:
        if isinstance(frame.index.name, str) and _LEAST <= len(frame) <= _MOST and frame.index.is_unique:
            self._dropped = dict([*self._dropped.items()][-_KEPT:]) | {
                id(made): (weakref.ref(made), frame.index.name, np.asarray(frame.index))}

    def _wrap_concat(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def concat(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            beside = kwargs.get("axis", args[1] if len(args) > 1 else 0) in (1, "columns")
            if beside and self._dropped and session.active and session.observation.glued is None:
                session.safely("tables side by side", self._joined, args[0] if args else kwargs.get("objs"))
            return made

        return concat

    def _joined(self, objs: Any) -> None:
        parts = list(objs) if isinstance(objs, list | tuple) else []
        for part in parts:
            known = self._dropped.get(id(part))
            if known is None or known[0]() is not part:
                continue
            _, name, values = known
            tables = [table for table in self._tables() if _holds(table, name, values)]
            if any(np.array_equal(table[name].to_numpy(), values) for table in tables):
                continue  # the others may well come from this one
            found = next(((table, column) for table in tables for other in parts if other is not part and len(other) == len(values)
                          for column in _shared(other, table) if _moves(table, name, column, values)), None)
            if found is not None:
                table, column = found
                self._session.observation.glued = GluedFacts(
                    name=name, column=str(column), rows=len(values), moved=int((table[name].to_numpy() != values).sum()),
                    site=self._session.sites.here())

    def _tables(self) -> Iterator[Any]:
        """Those that the script has under a name, where it is."""
        frame: FrameType | None = sys._getframe(1)
        pandas = sys.modules["pandas"]
        for _ in range(_FRAMES):
            if frame is None:
                return
            if self._session.sites.is_own(frame.f_code.co_filename):
                yield from (value for value in list(frame.f_locals.values()) if isinstance(value, pandas.DataFrame))
            frame = frame.f_back


def _holds(table: Any, name: str, values: Array) -> bool:
    """Whether a table has just these values in a column of this name, in any order."""
    if name not in table.columns or len(table) != len(values) or not table.columns.is_unique:
        return False
    return bool(table[name].is_unique) and set(table[name].tolist()) == set(values.tolist())


def _shared(other: Any, table: Any) -> list[Any]:
    """The columns that both have, place by place."""
    return [column for column in getattr(other, "columns", ()) if column in table.columns
            and np.array_equal(other[column].to_numpy(), table[column].to_numpy())]


def _moves(table: Any, name: str, column: Any, values: Array) -> bool:
    """Whether the column would read otherwise in the order of these values."""
    return column != name and not np.array_equal(table.set_index(name)[column].reindex(values).to_numpy(), table[column].to_numpy())
