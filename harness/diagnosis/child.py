"""The child side of a diagnosis: run one unedited script under watch. `python -m harness.diagnosis.child REQUEST.json`."""

from __future__ import annotations

import functools
import gc
import json
import os
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from harness import script
from harness.checks.training_facts import FurtherFacts
from harness.child import ImportClock, print_traceback, redirect_noise
from harness.diagnosis import later
from harness.diagnosis.transport import write
from harness.frameworks import on_cpu
from harness.frameworks.watch import keras_tracing
from harness.frameworks.watch.session import Enough, WatchBudget, WatchSession
from harness.process import crash

_SNAPSHOT_S = 2.0


def main(request: dict[str, Any]) -> int:
    """Run the request's script; its observation is at `request["observation"]` whatever happens, and now and then before.

    With a `request["begin"]`, of `FurtherFacts`, the script runs unwatched up to there, for at most `request["unwatched_s"]`. With
    `request["on_cpu"]` what it sends to a GPU stays on the CPU.
    """
    path, output = Path(request["script"]), Path(request["observation"])
    text = script.read(path)
    further = msgspec.convert(request["begin"], FurtherFacts) if request.get("begin") else None
    code = script.compile_with(text, path, request["values"], functools.partial(later.mark, further=further) if further else None)
    shown = redirect_noise(request["noise"])
    notes = crash.Notes(output.parent)
    os.chdir(request["folder"])
    module = ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    sys.argv = [request["shown"], *request["argv"]]
    sys.path.insert(0, str(path.parent))
    if request.get("on_cpu"):
        on_cpu.hook()
    session = WatchSession(path, WatchBudget(**request["budget"]))
    if further is None:
        session.attach()
        session.when_imported("tensorflow", keras_tracing.short_lived)
    else:
        module.__dict__[later.NAME] = later.on_turn(further.turn, functools.partial(session.attach, late=True))
    begun = time.monotonic()
    write(session.observation, output)
    writing, ended = threading.Lock(), threading.Event()
    if further is not None:
        threading.Thread(target=_await, args=(session, request["unwatched_s"], ended), daemon=True).start()
    threading.Thread(target=_snapshots, args=(session, output, begun, writing, ended), daemon=True).start()
    error: BaseException | None = None
    # What frameworks make at their import stays for good: the collector need not go through it again with every graph that is traced.
    clock = ImportClock(notes, after_long=gc.freeze)
    clock.start()
    try:
        exec(code, module.__dict__)
    except BaseException as raised:
        error = raised
    clock.stop()
    ended.set()
    session.detach()
    seen = session.finish(error)
    seen.seconds, seen.imports_seconds = time.monotonic() - begun, clock.seconds
    with writing:
        write(seen, output)
    if error is not None and not isinstance(error, Enough | SystemExit | KeyboardInterrupt):
        print_traceback(error, shown)
        return 1
    return 0


def _await(session: WatchSession, seconds: float, ended: threading.Event) -> None:
    """End a process in which nothing is watched after so many seconds."""
    if not ended.wait(seconds) and not session.attached:
        os._exit(1)


def _snapshots(session: WatchSession, output: Path, begun: float, writing: threading.Lock, ended: threading.Event) -> None:
    """What was seen so far, written now and then, so that a script that hangs or is killed still has been watched; never once it has
    `ended`, since the whole record is written then."""
    while not ended.wait(_SNAPSHOT_S):
        try:
            session.look()
            session.observation.seconds = time.monotonic() - begun
            with writing:
                if not ended.is_set():
                    write(session.observation, output)
        except (RuntimeError, ValueError, TypeError):
            continue  # the script's thread was changing the record; the next snapshot will do


if __name__ == "__main__":
    status = main(json.loads(Path(sys.argv[1]).read_text()))
    sys.stdout.flush()
    # The frameworks' own exit handlers may hang after an error; everything is written by now.
    os._exit(status)
