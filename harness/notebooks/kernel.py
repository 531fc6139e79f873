"""The kernel side: an ordinary IPython kernel, in which the observers of `harness.child` watch.

Started by `harness.notebooks.execute`, or by hand as `python -m harness.notebooks.kernel REQUEST.json`.

What the cells do ends up in the same event file as a script's run, so that the same evidence judges both.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from harness import script
from harness.child import ImportClock, finish, observe, record
from harness.frameworks.events import EventWriter
from harness.frameworks.stages import Frame
from harness.notebooks.build import source
from harness.paths import ROOT


class _Watch:
    """Follows the cells of one script through a kernel's life."""

    def __init__(self, text: str, emit: EventWriter) -> None:
        self._text = text
        self._emit = emit
        self._observers = observe(emit)
        self._clock = ImportClock()
        self._lines = {source(text, cell): cell.first_line for cell in script.cells(text)}
        self._begun = 0.0
        self._spent = 0.0
        self._raised = False
        self._ended = False

    def before(self, _info: Any) -> None:
        """A cell begins."""
        self._clock.start()
        self._begun = time.perf_counter()

    def after(self, result: Any) -> None:
        """A cell has ended; the first error of a notebook is its end."""
        self._spent += time.perf_counter() - self._begun
        self._clock.stop()
        error = result.error_before_exec or result.error_in_exec
        if error is None or self._raised:
            return
        self._raised = True
        marker = self._lines.get(result.info.raw_cell.strip("\n"), 0)
        own = f"{os.sep}ipykernel_{os.getpid()}{os.sep}"
        record(error, self._text, lambda frame: _line(frame, own, marker), self._emit)
        self.end()

    def end(self) -> None:
        """The script is over: it raised, or the kernel shuts down."""
        if self._ended:
            return
        self._ended = True
        finish(self._observers, self._emit, status=int(self._raised), wall_s=self._spent, imports_s=self._clock.seconds)


def _line(frame: Frame, own: str, marker: int) -> int | None:
    return frame.line + marker if own in frame.path else None


def main(request: dict[str, Any]) -> int:
    """Be the kernel that a connection file asks for, until it is told to shut down. For a fresh or a forked process."""
    from ipykernel.kernelapp import IPKernelApp

    descriptor = os.open(request["events"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    emit = EventWriter(descriptor)
    os.chdir(ROOT)
    emit("start", pid=os.getpid(), python=sys.version.split()[0])
    app = IPKernelApp.instance()
    app.parent_handle = os.getppid()  # ends with the process that started it, however that ends
    app.initialize(["-f", request["connection_file"], "--IPKernelApp.quiet=True", "--HistoryManager.enabled=False"])
    watch = _Watch(script.read(Path(request["script"])), emit)
    app.shell.events.register("pre_run_cell", watch.before)
    app.shell.events.register("post_run_cell", watch.after)
    try:
        app.start()
    finally:
        watch.end()
    return 0


if __name__ == "__main__":
    status = main(json.loads(Path(sys.argv[1]).read_text()))
    sys.stdout.flush()
    os._exit(status)
