"""Training that a script leaves to processes of its own: each is watched where it runs, and its record is taken for the script's.

Followed are Python scripts that are started by `subprocess`, and functions of the script's that are given to `multiprocessing` or
`torch.multiprocessing.spawn`. Of several processes that run one function (the ranks of a distributed training) the first is watched: the
others do the same to other rows.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import multiprocessing.process
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from harness.checks.observation import Observation
from harness.diagnosis import transport
from harness.diagnosis.watched import Recording
from harness.frameworks.watch.session import Enough, WatchBudget, WatchSession
from harness.paths import ROOT

_SPAWNS = "torch.multiprocessing.spawn"
_ENOUGH = signal.SIGUSR1
# A child reads its request from a file; what its own interpreter is told (`-u`, `-X`) stays before this.
_ENTER = "import sys; sys.path.insert(0, {root!r}); from harness.diagnosis.child import enter; enter({request!r})"
_VALUED = ("-W", "-X")


@dataclasses.dataclass(frozen=True)
class Watched:
    """A function of the script's that a process is given to run. Goes to that process by pickle or by fork."""

    function: Callable[..., Any]
    script: str
    budget: dict[str, Any]
    output: str
    parent: int

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs it under watch; what it raises goes on."""
        session = WatchSession(self.script, WatchBudget(**self.budget))
        made: list[Any] = []

        def act() -> None:
            session.attach()
            made.append(self.function(*args, **kwargs))

        error = Recording(session, Path(self.output)).run(act)
        tell(self.parent, session)
        if error is not None and not isinstance(error, Enough):
            raise error
        return made[0] if made else None


def tell(parent: int, session: WatchSession) -> None:
    """Let the process that has started this one know that its training was cut short: nothing that follows there is to be believed."""
    if session.stopping is not None:
        os.kill(parent, _ENOUGH)


class Children:
    """What a watched script starts. `folder`: where the records of its processes may lie."""

    def __init__(self, session: WatchSession, request: dict[str, Any], folder: Path) -> None:
        self._session, self._request, self._folder = session, request, folder
        self._outputs: list[Path] = []
        self._functions: set[str] = set()
        self._own = os.getpid()

    def attach(self) -> None:
        """Hook what starts processes."""
        self._session.patches.replace(subprocess.Popen, "__init__", self._wrap_popen)
        self._session.patches.replace(multiprocessing.process.BaseProcess, "start", self._wrap_start)
        if threading.current_thread() is threading.main_thread():
            signal.signal(_ENOUGH, self._heard)
            self._session.patches.calling(_deaf)

    def chosen(self, own: Observation) -> Observation:
        """The record of the first process that has trained, where this one has not."""
        if own.trained:
            return own
        for output in self._outputs:
            seen = transport.read(output)
            failed = seen is not None and seen.exception is not None and (seen.reached != "setup" or own.exception is not None)
            if seen is not None and (seen.trained or failed):
                seen.further = None  # a second run would have to come to it in that process
                seen.warnings += [text for text in own.warnings if text not in seen.warnings]
                return seen
        return own

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if os.getpid() == self._own:
            self._session.enough("enough steps")

    @property
    def _looks(self) -> bool:
        return self._session.active and not self._session.observation.trained

    def _place(self) -> Path:
        folder = self._folder / f"child-{len(self._outputs)}"
        folder.mkdir()
        self._outputs.append(folder / "observation.json")
        return self._outputs[-1]

    def _wrap_start(self, original: Any) -> Any:

        def start(process: Any, *args: Any, **kwargs: Any) -> Any:
            if self._looks:
                self._session.safely("a process", self._watch, process)
            return original(process, *args, **kwargs)

        return start

    def _watch(self, process: Any) -> None:
        target, args = process._target, process._args
        spawned = getattr(target, "__module__", "") == _SPAWNS and bool(args)
        function = args[0] if spawned else target
        if not self._of_script(function) or function.__qualname__ in self._functions:
            return
        self._functions.add(function.__qualname__)
        watched = Watched(function, str(self._session.script), self._request["budget"], str(self._place()), os.getpid())
        process._target, process._args = (target, (watched, *args[1:])) if spawned else (watched, args)

    def _of_script(self, function: Any) -> bool:
        if not inspect.isfunction(function):
            return False
        file = Path(function.__code__.co_filename)
        return file == self._session.script or (file.parent == self._session.script.parent and file.suffix == ".py")

    def _wrap_popen(self, original: Any) -> Any:
        signature = inspect.signature(original)

        def __init__(popen: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - stands for it
            given = None
            if self._looks:
                given = self._session.safely("a script that is started", self._started, signature, (popen, *args), kwargs)
            if given is None:
                original(popen, *args, **kwargs)
            else:
                original(*given.args, **given.kwargs)

        return __init__

    def _started(self, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments | None:
        given = signature.bind(*args, **kwargs)
        command, folder = given.arguments["args"], Path(given.arguments.get("cwd") or ".").absolute()
        if given.arguments.get("shell") or not isinstance(command, list | tuple):
            return None
        words = [os.fsdecode(part) for part in command]
        at = _script_at(words)
        if at is None or not _is_this_python(words[0], given.arguments.get("env")):
            return None
        path = folder / words[at]
        if not path.is_file():
            return None
        output = self._place()
        request = self._request | {
            "script": str(path), "shown": words[at], "values": {}, "argv": words[at + 1:], "folder": str(folder), "noise": None,
            "observation": str(output), "parent": os.getpid()}
        place = output.with_name("request.json")
        place.write_text(json.dumps(request))
        given.arguments["args"] = [*words[:at], "-c", _ENTER.format(root=str(ROOT), request=str(place))]
        return given


def _deaf() -> None:
    signal.signal(_ENOUGH, signal.SIG_IGN)


def _script_at(words: list[str]) -> int | None:
    """Where in a command the Python script is that it runs; None where it runs a module, or a text."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] in ("-m", "-c", "-"):
            return None
        at += 2 if words[at] in _VALUED else 1
    return at if at < len(words) and words[at].endswith(".py") else None


def _is_this_python(word: str, environment: dict[str, str] | None) -> bool:
    found = shutil.which(word, path=(environment or os.environ).get("PATH"))
    return found is not None and Path(found).name.startswith("python") and Path(found).parent == Path(sys.executable).parent
