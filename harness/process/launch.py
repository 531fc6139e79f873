"""Start a script in a fresh child, stream its output, and end its whole process group on a timeout or Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from harness.catalog.schema import Value
from harness.paths import ROOT

_GRACE_S = 3.0
_POLL_S = 0.05


@dataclass(frozen=True)
class Request:
    """What a child is to run: script, values for its parameters, its command line, where events and noise go.

    `connection_file` is Jupyter's, for a child that is a notebook's kernel.
    """

    script: Path
    values: dict[str, Value]
    events: Path
    noise: Path | None
    argv: tuple[str, ...] = ()
    connection_file: Path | None = None

    def as_json(self) -> dict[str, Any]:
        return {"script": str(self.script), "values": self.values, "events": str(self.events), "argv": list(self.argv),
                "noise": str(self.noise) if self.noise else None,
                "connection_file": str(self.connection_file) if self.connection_file else None}


@dataclass(frozen=True)
class Outcome:
    """How a child ended: its status (None where it was ended), the signal, whether time ran out, wall time in seconds.

    `out_of_memory`: it was killed, not by us, while the kernel ended a process because memory had run out.
    """

    status: int | None
    signal: int | None
    timed_out: bool
    wall_s: float
    out_of_memory: bool = False


def ended_for_memory() -> int:
    """How many processes the kernel has ended for memory since this machine started; 0 where it does not tell."""
    try:
        counters = Path("/proc/vmstat").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in counters.splitlines() if line.startswith("oom_kill ")), 0)


def end_group(pid: int, reap: Callable[[], object] = lambda: None) -> None:
    """End a process group: politely, then not. Safe when it is already gone.

    `reap` collects the leader where this process is its parent; uncollected, a dead leader would look alive.
    """
    for number, wait_s in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, 0.0)):
        try:
            os.killpg(pid, number)
        except (ProcessLookupError, PermissionError):
            return
        until = time.monotonic() + wait_s
        while time.monotonic() < until:
            reap()
            try:
                os.killpg(pid, 0)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(_POLL_S)


def run(request: Request, environment: dict[str, str], timeout_s: float, on_output: Callable[[bytes, bool], None]) -> Outcome:
    """Run a request under the observers of `harness.child`; the rest as `run_module`."""
    request_path = request.events.with_suffix(".request.json")
    request_path.write_text(json.dumps(request.as_json()))
    return run_module("harness.child", request_path, environment, timeout_s, on_output)


def run_module(module: str, request_path: Path, environment: dict[str, str], timeout_s: float,
               on_output: Callable[[bytes, bool], None], folder: Path | None = None) -> Outcome:
    """Run `python -m module request_path` in a fresh interpreter, in `folder` or here.

    `on_output(data, is_error)` gets the child's output as it comes, from two threads. The group is ended when time runs out, and before any
    exception (Ctrl-C among them) leaves this function.
    """
    search = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH", "")]))
    begun, counted = time.monotonic(), ended_for_memory()
    child = subprocess.Popen(
        [sys.executable, "-m", module, str(request_path)], env={**environment, "PYTHONPATH": search}, cwd=folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    readers = [threading.Thread(target=_pump, args=(stream, is_error, on_output), daemon=True)
               for stream, is_error in ((child.stdout, False), (child.stderr, True))]
    for reader in readers:
        reader.start()
    timed_out = False
    try:
        status = child.wait(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        timed_out, status = True, None
    finally:
        end_group(child.pid, child.poll)
        child.wait()
    for reader in readers:
        reader.join(_GRACE_S)
    number = -child.returncode if child.returncode < 0 else None
    for_memory = number == signal.SIGKILL and not timed_out and ended_for_memory() > counted
    return Outcome(None if timed_out or number else status, number, timed_out, time.monotonic() - begun, for_memory)


def _pump(stream: BinaryIO, is_error: bool, on_output: Callable[[bytes, bool], None]) -> None:
    with stream:
        while data := os.read(stream.fileno(), 65536):
            on_output(data, is_error)
