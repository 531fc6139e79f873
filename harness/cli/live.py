"""A run while it runs: the script's own output as it comes, and how far it is (a bar on a terminal, plain lines in a log)."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_POLL_S = 0.2
_LINES_PER_RUN = 5


class LiveView:
    """Context manager around one run. `output` takes the child's bytes, `watch` the event file; both are callbacks of `execute`."""

    def __init__(self, name: str, total_steps: int | None, *, to_stderr: bool) -> None:
        self._name = name
        self._total = total_steps
        self._out: BinaryIO = sys.stderr.buffer if to_stderr else sys.stdout.buffer
        self._terminal = sys.stderr.isatty()
        self._partial = {False: b"", True: b""}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._said = 0

    def __enter__(self) -> LiveView:
        if self._terminal:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[state]}"),
                                      TimeElapsedColumn(), console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task(self._name, total=self._total, state="loading")
            self._progress.start()
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._stop.set()
        if self._watcher:
            self._watcher.join()
        for is_error, rest in self._partial.items():
            if rest:
                self._write(rest, is_error)
        if self._progress:
            self._progress.stop()

    def output(self, data: bytes, is_error: bool) -> None:
        """Pass the child's output on. Beside a bar only whole lines are, so that the bar is not torn."""
        with self._lock:
            if self._progress is None:
                self._write(data, is_error)
                return
            lines, newline, self._partial[is_error] = (self._partial[is_error] + data).rpartition(b"\n")
            if newline:
                self._write(lines + newline, is_error)

    def _write(self, data: bytes, is_error: bool) -> None:
        if self._progress is not None and sys.stdout.isatty():
            self._progress.console.print(data.decode(errors="replace"), end="", markup=False, highlight=False, soft_wrap=True)
            return
        stream = sys.stderr.buffer if is_error else self._out
        stream.write(data)
        stream.flush()

    def watch(self, events: Path) -> None:
        """Follow the event file in a thread until the run is over."""
        self._watcher = threading.Thread(target=self._follow, args=(events,), daemon=True)
        self._watcher.start()

    def _follow(self, events: Path) -> None:
        from harness.runs.execute import read_events

        seen = 0
        while not self._stop.wait(_POLL_S):
            steps = [event for event in read_events(events) if event["event"] == "step"]
            if len(steps) > seen:
                seen = len(steps)
                self._advance(seen, steps[-1].get("loss"))

    def _advance(self, step: int, loss: float | str | None) -> None:
        state = f"step {step}" + (f"/{self._total}" if self._total else "")
        if loss is not None:
            state += f" loss {float(loss):.3f}"
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=step, state=state)
        elif self._total and step * _LINES_PER_RUN // self._total > self._said:
            self._said = step * _LINES_PER_RUN // self._total
            with self._lock:
                sys.stderr.write(f"[{self._name}] {state}\n")
                sys.stderr.flush()
