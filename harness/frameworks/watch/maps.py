"""Columns that the script makes with `Dataset.map`: which function of its own made which."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_COMPARED = 8


class Maps:
    """Hooks `datasets.Dataset.map`, which the dicts of datasets call too."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

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
            return made

        return map_

    def _note(self, function: Any, before: Any, after: Any) -> None:
        while isinstance(function, functools.partial):
            function = function.func
        code = getattr(function, "__code__", None)
        if code is None or not self._session.sites.is_own(code.co_filename):
            return
        place = site((code.co_filename, code.co_firstlineno, code.co_name))
        same = min(len(before), len(after), _COMPARED)
        for name in after.column_names:
            if place is not None and (name not in before.column_names or before[:same][name] != after[:same][name]):
                self._session.observation.made[name] = place
