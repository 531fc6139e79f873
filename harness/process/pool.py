"""Children of one warm parent, started and awaited from several threads."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.process import warm
from harness.process.environment import for_script
from harness.process.launch import Outcome

_POLL_S = 0.05


class Pool:
    """A warm parent behind a lock. `workers` is how many children its environment shares the cores among."""

    def __init__(self, parent: warm.WarmParent, workers: int) -> None:
        self.workers = workers
        self._parent = parent
        self._lock = threading.Lock()
        self._ended: dict[int, Outcome] = {}
        self._next = 0

    def start(self, module: str, request: dict[str, Any], output: Path, scratch: Path, limit_s: float) -> tuple[int, int]:
        """Fork a child in which `module.main(request)` runs; returns its number and process id."""
        with self._lock:
            self._next += 1
            self._parent.submit(self._next, request, output, scratch, limit_s, module)
            return self._next, self._parent.running[self._next].pid

    def outcome(self, number: int) -> Outcome | None:
        """How a child ended, None while it lives."""
        with self._lock:
            while number not in self._ended and (ended := self._parent.wait(0.0)) is not None:
                self._ended[ended[0]] = ended[1]
            return self._ended.get(number)

    def run(self, module: str, request: dict[str, Any], output: Path, scratch: Path, limit_s: float) -> Outcome:
        """Fork a child and wait until it has ended."""
        number, _ = self.start(module, request, output, scratch, limit_s)
        while (outcome := self.outcome(number)) is None:
            time.sleep(_POLL_S)
        return outcome


@contextlib.contextmanager
def open_pool(framework: str, workers: int, *, offline: bool, also: tuple[str, ...] = ()) -> Iterator[Pool]:
    """A pool over a warm parent that has imported a framework and the modules `also`."""
    with warm.start(framework, for_script(framework, quiet=True, offline=offline, jobs=workers), also) as parent:
        yield Pool(parent, workers)
