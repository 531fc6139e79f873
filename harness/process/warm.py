"""Warm start: a parent that has imported a framework and forks a child per run, so that importing is paid once.

The parent must only ever *import*: one multithreaded operation before a fork and the child hangs. It is driven over its stdin and
stdout with one JSON object a line.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from harness.errors import ChildDied
from harness.paths import ROOT
from harness.process import crash
from harness.process.launch import Outcome, end_group, ended_for_memory

CHILD = "harness.child"
_PRELOAD = {
    "torch": ("torch", "torch.utils.data", "transformers", "transformers.trainer", "transformers.models.auto.modeling_auto",
              "transformers.models.distilbert.modeling_distilbert", "transformers.models.auto.tokenization_auto", "datasets", "evaluate",
              "encodings.idna"),
    "tensorflow": ("tensorflow", "tf_keras", "transformers", "transformers.models.auto.modeling_tf_auto",
                   "transformers.models.distilbert.modeling_tf_distilbert", "transformers.keras_callbacks",
                   "transformers.models.auto.tokenization_auto", "datasets", "evaluate", "encodings.idna"),
}


@dataclass
class _Running:
    pid: int
    begun: float
    limit_s: float
    killed_before: int
    timed_out: bool = False


@dataclass
class WarmParent:
    """A running warm parent and its children. Use `start()`; ends its children and itself when closed."""

    process: subprocess.Popen[bytes]
    running: dict[int, _Running] = field(default_factory=dict)
    _buffer: bytes = b""
    _ended: list[dict[str, Any]] = field(default_factory=list)

    def submit(self, number: int, request: dict[str, Any], output: Path, scratch: Path, limit_s: float, module: str = CHILD) -> None:
        """Fork a child in which `module.main(request)` runs; its stdout and stderr go to the file `output`."""
        self._send({"number": number, "module": module, "request": request, "output": str(output), "scratch": str(scratch)})
        while "pid" not in (answer := self._receive(None) or {}):
            self._ended.append(answer)
        self.running[number] = _Running(answer["pid"], time.monotonic(), limit_s, ended_for_memory())

    def wait(self, poll_s: float = 0.2) -> tuple[int, Outcome] | None:
        """The next child that ended, or None when none did within `poll_s`. Ends those whose time has run out."""
        for running in self.running.values():
            if time.monotonic() - running.begun > running.limit_s and not running.timed_out:
                running.timed_out = True
                end_group(running.pid)
        answer = self._ended.pop(0) if self._ended else self._receive(poll_s)
        if answer is None:
            return None
        running = self.running.pop(answer["number"])
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(running.pid, signal.SIGKILL)
        number = answer["signal"] or None
        status = None if running.timed_out or number else answer["status"]
        for_memory = number == signal.SIGKILL and not running.timed_out and ended_for_memory() > running.killed_before
        return answer["number"], Outcome(status, number, running.timed_out, time.monotonic() - running.begun, for_memory)

    def close(self) -> None:
        """End every child and the parent."""
        for running in self.running.values():
            end_group(running.pid)
        self.running.clear()
        end_group(self.process.pid, self.process.poll)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _receive(self, timeout_s: float | None) -> dict[str, Any] | None:
        assert self.process.stdout is not None
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)
            if not ready:
                return None
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise RuntimeError(f"the warm parent ended with status {self.process.wait()}; its stderr says why")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return dict(json.loads(line))


@contextlib.contextmanager
def start(framework: str, environment: dict[str, str], also: tuple[str, ...] = ()) -> Iterator[WarmParent]:
    """Start a warm parent for a framework and wait until it has imported everything, the modules `also` named among it.

    Raises `ChildDied` where native code crashed in an import.
    """
    search = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH", "")]))
    with tempfile.TemporaryFile() as noise, tempfile.TemporaryDirectory(prefix="zoo-warm-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness.process.warm", folder, framework, *also], env={**environment, "PYTHONPATH": search},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise, start_new_session=True)
        yield from _served(WarmParent(process), noise, Path(folder))


def _served(parent: WarmParent, noise: IO[bytes], folder: Path) -> Iterator[WarmParent]:
    try:
        try:
            parent._receive(None)
        except RuntimeError:
            if (status := parent.process.wait()) < 0:
                raise ChildDied(f"importing the frameworks was ended by {signal.Signals(-status).name}{crash.read(folder)}; "
                                "python -m harness doctor names packages that do not go together") from None
            noise.seek(0)
            raise RuntimeError(f"the warm parent could not start: {noise.read().decode(errors='replace')[-3000:]}") from None
        yield parent
    finally:
        parent.close()


def supported() -> bool:
    """Whether this system can fork a process that has loaded the frameworks (macOS's libraries do not survive it)."""
    return sys.platform == "linux"


def _serve(folder: str, framework: str, also: list[str]) -> None:
    """The warm parent's own loop: requests in on descriptor 0, answers out on a private copy of descriptor 1."""
    crash.Notes(Path(folder))
    answers = os.dup(1)
    os.dup2(2, 1)
    for name in (*_PRELOAD[framework], *also):
        importlib.import_module(name)
    importlib.import_module(CHILD)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, int] = {}
    _answer(answers, {"ready": True})
    buffer = b""
    while True:
        ready, _, _ = select.select([0, wake_read], [], [])
        if wake_read in ready:
            os.read(wake_read, 4096)
            _collect(answers, children)
        if 0 not in ready:
            continue
        data = os.read(0, 65536)
        if not data:
            return
        buffer += data
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            message = json.loads(line)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for descriptor in (answers, wake_read, wake_write):
                    os.close(descriptor)
                _become(message)
            children[pid] = message["number"]
            _answer(answers, {"number": message["number"], "pid": pid})


def _become(message: dict[str, Any]) -> None:
    code = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        output = os.open(message["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for source, target in ((null, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        os.environ["TMPDIR"] = message["scratch"]
        code = importlib.import_module(message["module"]).main(message["request"])
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _collect(answers: int, children: dict[int, int]) -> None:
    while children:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        if pid in children:
            _answer(answers, {"number": children.pop(pid), "status": code, "signal": ended})


def _answer(descriptor: int, message: dict[str, Any]) -> None:
    os.write(descriptor, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], sys.argv[3:])
