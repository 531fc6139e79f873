"""What is there when watching begins in the middle of a script: models and layers that earlier trainings may have worked on."""

from __future__ import annotations

import weakref
from typing import Any

from harness.frameworks.watch import alive


class Seasoned:
    """Objects of a class that were made before; empty for a script that is watched from its start."""

    def __init__(self, kind: type, *, late: bool) -> None:
        self._known: dict[int, weakref.ref[Any]] = {}
        if late:
            # A proxy's class may be asked for only by `type`: `isinstance` would run code of its own.
            self._known = {id(made): weakref.ref(made) for made in alive.objects() if issubclass(type(made), kind)}

    def __contains__(self, made: object) -> bool:
        known = self._known.get(id(made))
        return known is not None and known() is made
