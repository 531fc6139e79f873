"""The child side of a diagnosis: run one unedited script under watch. `python -m harness.diagnosis.child REQUEST.json`."""

from __future__ import annotations

import ast
import functools
import json
import os
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from harness import script
from harness.checks.training_facts import FurtherFacts
from harness.child import print_traceback, redirect_noise
from harness.diagnosis import later
from harness.diagnosis.children import Children, tell
from harness.diagnosis.watched import Recording
from harness.frameworks import on_cpu
from harness.frameworks.watch import keras_tracing, marked
from harness.frameworks.watch.session import Enough, WatchBudget, WatchSession
from harness.process import crash


def main(request: dict[str, Any]) -> int:
    """Run the request's script; its observation is at `request["observation"]` whatever happens, and now and then before.

    With a `request["begin"]`, of `FurtherFacts`, the script runs unwatched up to there, for at most `request["unwatched_s"]`. With
    `request["on_cpu"]` what it sends to a GPU stays on the CPU. `request["parent"]`: the process that has started this one for a script
    that is watched itself.
    """
    path, output = Path(request["script"]), Path(request["observation"])
    text = script.read(path)
    further = msgspec.convert(request["begin"], FurtherFacts) if request.get("begin") else None

    def mark(tree: ast.Module) -> None:
        marked.mark(tree, text)
        if further is not None:
            later.mark(tree, further)

    code = script.compile_with(text, path, request["values"], mark)
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
    children = Children(session, request, output.parent)
    if not request.get("on_cpu"):
        children.attach()
    recording = Recording(session, output, children.chosen)
    if further is not None:
        threading.Thread(target=_await, args=(session, request["unwatched_s"], recording.ended), daemon=True).start()
    error = recording.run(lambda: exec(code, module.__dict__), notes)
    if "parent" in request:
        tell(request["parent"], session)
    if isinstance(error, SystemExit) and "parent" in request:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    if error is not None and not isinstance(error, Enough | SystemExit | KeyboardInterrupt):
        print_traceback(error, shown)
        return 1
    return 0


def enter(request: str) -> None:
    """Run the request in this file and end this process."""
    status = main(json.loads(Path(request).read_text()))
    sys.stdout.flush()
    # The frameworks' own exit handlers may hang after an error; everything is written by now.
    os._exit(status)


def _await(session: WatchSession, seconds: float, ended: threading.Event) -> None:
    """End a process in which nothing is watched after so many seconds."""
    if not ended.wait(seconds) and not session.attached:
        os._exit(1)


if __name__ == "__main__":
    enter(sys.argv[1])
