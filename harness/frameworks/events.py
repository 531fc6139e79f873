"""The stream of events a child writes while it runs, one JSON object a line, so that nothing is lost when it dies."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from typing import Any

Emit = Callable[..., None]


class EventWriter:
    """Appends events to an open file descriptor; each line is written at once, so a reader never waits and a crash loses nothing."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._process = os.getpid()

    def __call__(self, kind: str, **fields: Any) -> None:
        """Write one event. Non-finite floats travel as the strings `nan`, `inf`, `-inf`, which strict JSON lacks.

        Does nothing in a process that the script forked (a loader's worker), which has its own counters.
        """
        if os.getpid() != self._process:
            return
        line = json.dumps({"event": kind, **_plain(fields)}, allow_nan=False) + "\n"
        os.write(self._descriptor, line.encode())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value)


def number(value: Any) -> float | None:
    """A float from an event: the inverse of how non-finite ones travel; None where there was no value.

    >>> number("nan") != number("nan"), number(1), number(None)
    (True, 1.0, None)
    """
    return None if value is None else float(value)
