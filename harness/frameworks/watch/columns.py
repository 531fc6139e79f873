"""Which lines of a script's own make a dataset, add columns to it, or hide them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from types import FrameType

    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.session import WatchSession

_BUILDING = ("from_dict", "from_list", "from_pandas", "from_polars", "from_generator", "from_csv", "from_json", "from_text",
             "from_parquet")
_HIDING = ("set_format", "with_format", "select_columns", "remove_columns")


class Columns:
    """Hooks methods of `datasets.Dataset`, which the dicts of datasets call too."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

    def attach(self) -> None:
        """Hook them once the script imports it."""
        self._session.when_imported("datasets.arrow_dataset", self._hook)

    def _hook(self, module: Any) -> None:
        for name in _HIDING:
            self._session.patches.replace(module.Dataset, name, functools.partial(self._wrap, self._hidden))
        for name in _BUILDING:
            if hasattr(module.Dataset, name):
                self._session.patches.replace(module.Dataset, name, self._wrap_building)
        self._session.patches.replace(module.Dataset, "add_column", functools.partial(self._wrap, self._added))

    def _wrap(self, note: Callable[[Any, Any, Site], None], original: Any) -> Any:
        session = self._session

        def method(dataset: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.safely("a column", self._asked) if session.active else None
            before = _shown(dataset) if place is not None else set()
            made = original(dataset, *args, **kwargs)
            if place is not None:
                session.safely("a column", note, before, _shown(dataset if made is None else made), place)
            return made

        return method

    def _wrap_building(self, original: Any) -> Any:
        session = self._session

        def build(*args: Any, **kwargs: Any) -> Any:
            place = session.safely("a dataset", self._asked) if session.active else None
            made = original(*args, **kwargs)
            if place is not None:
                session.safely("a dataset", self._built, made, place)
            return made

        return build

    def _asked(self) -> Site | None:
        """The script's own line, where it is itself that asks: a Trainer leaves columns out, too, and so does who describes a dataset."""
        frame: FrameType | None = sys._getframe(3)
        while frame is not None:
            file = frame.f_code.co_filename
            if self._session.sites.is_own(file):
                return site((file, frame.f_lineno, frame.f_code.co_name))
            if "/datasets/" not in file and file != __file__:
                return None
            frame = frame.f_back
        return None

    def _hidden(self, before: Iterable[str], after: Iterable[str], place: Site) -> None:
        for name in set(before) - set(after):
            self._session.observation.hidden[name] = place

    def _built(self, made: Any, place: Site) -> None:
        for name in made.column_names:
            self._session.observation.built.setdefault(name, place)

    def _added(self, before: Iterable[str], after: Iterable[str], place: Site) -> None:
        for name in set(after) - set(before):
            self._session.observation.made[name] = place


def _shown(dataset: Any) -> set[str]:
    """The columns that a row of a dataset has when it is read."""
    return set(dataset.format["columns"] or dataset.column_names)
