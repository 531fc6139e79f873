"""What the script makes with `Dataset.map`: which function of its own made which column, and whether one mixes rows up."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.checks import reading
from harness.frameworks.watch import written
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.session import WatchSession

_LABELS = ("labels", "label", "label_ids")
_COMPARED = 8
_KEPT = 4
_MORE_ARGUMENTS = {"with_indices", "with_rank", "input_columns"}


class Maps:
    """Hooks `datasets.Dataset.map`, which the dicts of datasets call too."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._batched: list[tuple[Any, dict[str, list[Any]]]] = []

    def attach(self) -> None:
        """Hook it once the script imports it."""
        self._session.when_imported("datasets.arrow_dataset",
                                    lambda module: self._session.patches.replace(module.Dataset, "map", self._wrap))

    def _wrap(self, original: Any) -> Any:
        session = self._session

        def map_(dataset: Any, function: Any = None, *args: Any, **kwargs: Any) -> Any:
            made = original(dataset, function, *args, **kwargs)
            if session.active and function is not None:
                session.safely("a map", self._note, function, dataset, made)
                session.safely("texts of a map", session.wholes.mapped, dataset, made)
                if kwargs.get("batched") and not args and not _MORE_ARGUMENTS & {name for name, value in kwargs.items() if value}:
                    session.safely("rows of a map", self._keep, function, dataset)
            return made

        return map_

    def _keep(self, function: Any, before: Any) -> None:
        if len(self._batched) < _KEPT and len(before) >= _COMPARED and self._own(function) is not None:
            self._batched.append((function, dict(before[:_COMPARED])))

    def finish(self) -> None:
        """The script is over: try functions on some rows in another order, where the script has not learnt."""
        if reading.script_learns(self._session.observation) or not self._session.observation.steps:
            return
        for function, rows in self._batched:
            with contextlib.redirect_stdout(io.StringIO()):
                mixes = self._session.safely("rows of a map in another order", _mixes, function, rows)
            if mixes:
                self._session.observation.mixed = self._own(function)

    def _own(self, function: Any) -> Site | None:
        """Where a function of the script's own is written."""
        code = getattr(_whole(function), "__code__", None)
        if code is None or not self._session.sites.is_own(code.co_filename):
            return None
        return site((code.co_filename, code.co_firstlineno, code.co_name))

    def _note(self, function: Any, before: Any, after: Any) -> None:
        place = self._own(function)
        same = min(len(before), len(after), _COMPARED)
        for name in after.column_names:
            if place is not None and (name not in before.column_names or before[:same][name] != after[:same][name]):
                self._session.observation.made[name] = place
                if len(before) != len(after) and name in before.column_names and name not in self._session.observation.cut:
                    self._session.observation.cut.append(name)
                if name in _LABELS:
                    code = _whole(function).__code__
                    self._session.site("map.labels", site(written.column(code, [name], self._session.sites)))


def _whole(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _mixes(function: Any, rows: dict[str, list[Any]]) -> bool:
    """Whether the rows that come out, each with its columns from before, are others where the rows go in the other way round.

    False for a function that gives another number of rows, something else every time, or the same stream in other portions.
    """
    if _portions(function, rows):
        return False
    turned = {name: values[::-1] for name, values in rows.items()}
    first, again, other = (_made(function, given) for given in (rows, rows, turned))
    return first is not None and other is not None and first == again and first != other


def _portions(function: Any, rows: dict[str, list[Any]]) -> bool:
    """Whether a function only cuts what its rows hold, one after the other, into portions of another length, as language models want."""
    result = function(copy.deepcopy(rows))
    if not isinstance(result, Mapping):
        return False
    cut = {name: list(values) for name, values in result.items() if name in rows and list(values) != rows[name]}
    for name, values in cut.items():
        before, after = _stream(rows[name]), _stream(values)
        if before is None or after is None or before[:len(after)] != after:
            return False
    return bool(cut) and all(any(list(values) == known for known in cut.values()) for name, values in result.items() if name not in rows)


def _stream(values: list[Any]) -> list[Any] | None:
    if not all(isinstance(value, list | tuple) for value in values):
        return None
    return [part for value in values for part in value]


def _made(function: Any, rows: dict[str, list[Any]]) -> list[str] | None:
    result = function(copy.deepcopy(rows))
    if not isinstance(result, Mapping):
        return None
    whole = {**rows, **{name: list(values) for name, values in result.items()}}
    count = len(next(iter(rows.values())))
    if any(len(values) != count for values in whole.values()):
        return None
    return sorted(repr([_plain(values[row]) for _, values in sorted(whole.items())]) for row in range(count))


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
