"""Modules whose import is under way when a hook is set on them: wrapt would call it at once, on a module that is not whole yet."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def under_way(name: str) -> bool:
    """Whether a module is being imported right now."""
    return bool(getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False))


class UnderWay:
    """A finder on `sys.meta_path` that finds nothing: at the next import of anything it calls the hooks of what is whole by then."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, Callable[[Any], None]]] = []

    def after(self, name: str, hook: Callable[[Any], None]) -> None:
        """Call `hook(module)` as soon as another import begins after this one is over."""
        self._waiting.append((name, hook))
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(self, *_args: Any) -> None:
        """An import begins."""
        whole = [entry for entry in self._waiting if not under_way(entry[0])]
        self._waiting = [entry for entry in self._waiting if entry not in whole]
        for name, hook in whole:
            if name in sys.modules:
                hook(sys.modules[name])

    def forget(self) -> None:
        """Leave `sys.meta_path`."""
        self._waiting = []
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
