"""Changes to other people's classes and modules that can all be taken back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_ABSENT = object()


class Patches:
    """Replaces attributes and remembers what was there; `undo` puts the very same objects back, last change first."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Set `owner.name` to `make(original)`. What the owner only inherits is looked up and, at the end, deleted again."""
        before: Any = vars(owner).get(name, _ABSENT) if hasattr(owner, "__dict__") else _ABSENT
        original = getattr(owner, name) if before is _ABSENT else before
        binding = type(original) if isinstance(original, classmethod | staticmethod) else None
        called: Any = original.__func__ if isinstance(original, classmethod | staticmethod) else original
        made = make(called)
        functools.update_wrapper(made, called, updated=())
        setattr(owner, name, binding(made) if binding else made)
        self._undo.append(functools.partial(_restore, owner, name, before))

    def calling(self, undo: Callable[[], None]) -> None:
        """Have `undo` called at the end: for hooks that come with a handle of their own."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Take everything back."""
        while self._undo:
            self._undo.pop()()


def _restore(owner: Any, name: str, before: Any) -> None:
    if before is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, before)
