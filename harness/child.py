"""The child side: run one script under observation. `python -m harness.child REQUEST.json`; see `harness.process`.

The script runs as `__main__`, as if started by hand; whatever happens to it ends up in the event file.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import wrapt

from harness import script
from harness.frameworks import stages
from harness.frameworks.events import EventWriter
from harness.frameworks.keras_observer import KerasObserver
from harness.frameworks.metric_observer import MetricObserver
from harness.frameworks.resources import MemoryObserver
from harness.frameworks.torch_observer import TorchObserver
from harness.process import crash

_VERSIONED = ("torch", "transformers", "tensorflow", "tf_keras", "keras", "datasets", "evaluate", "accelerate", "numpy")
_OWN = str(Path(__file__).resolve().parent)
_LONG_S = 0.5


class ImportClock:
    """Adds up the time spent in import statements, so that a script's own work can be told from loading the frameworks.

    `notes`, if there are any, are told of the outermost ones. After each of these that took half a second, `after_long` is called.
    """

    def __init__(self, notes: crash.Notes | None = None, after_long: Callable[[], None] = lambda: None) -> None:
        self._notes, self._after_long = notes, after_long
        self.seconds = 0.0
        self._depth = 0
        self._import = builtins.__import__

    def start(self) -> None:
        builtins.__import__ = self._timed

    def stop(self) -> None:
        builtins.__import__ = self._import

    def _timed(self, *args: Any, **kwargs: Any) -> ModuleType:
        self._depth += 1
        begun = time.perf_counter() if self._depth == 1 else 0.0
        if self._notes is not None and self._depth == 1 and args and args[0] not in sys.modules:
            self._notes.importing(sys._getframe(1))
        try:
            return self._import(*args, **kwargs)
        finally:
            self._depth -= 1
            if self._depth == 0:
                taken = time.perf_counter() - begun
                self.seconds += taken
                if taken > _LONG_S:
                    self._after_long()


def observe(emit: EventWriter) -> list[Any]:
    """Attach the observers, each when the script imports its framework (at once where a warm parent already has)."""
    memory, torch, metric = MemoryObserver(emit), TorchObserver(emit), MetricObserver(emit)
    keras = KerasObserver(emit)
    memory.attach()
    wrapt.register_post_import_hook(lambda _module: torch.attach(), "torch")
    wrapt.register_post_import_hook(metric.attach, "evaluate")
    wrapt.register_post_import_hook(keras.attach, "tf_keras")
    return [memory, torch, keras]  # memory first: it gives the others room to finish


def run(request: dict[str, Any], emit: EventWriter, shown: int, notes: crash.Notes) -> int:
    """Run `request["script"]` with `request["values"]`; returns the exit status of the script as Python would give it.

    `shown` is the descriptor on which a traceback is printed; the script's own stderr may be going elsewhere.
    """
    path = Path(request["script"])
    text = script.read(path)
    code = script.compile_with(text, path, request["values"])
    main = ModuleType("__main__")
    main.__file__ = str(path)
    sys.modules["__main__"] = main
    sys.argv = [str(path), *request.get("argv", [])]
    sys.path[0:0] = [str(path.parent)]
    emit("start", pid=os.getpid(), python=sys.version.split()[0])
    observers = observe(emit)
    clock = ImportClock(notes)
    status = 0
    begun = time.perf_counter()
    clock.start()
    try:
        exec(code, main.__dict__)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            os.write(shown, (error.code + "\n").encode())
        emit("exit", code=status)
    except KeyboardInterrupt:
        status = 130
    except BaseException as error:  # the script's error is the specimen: it is recorded, shown, and the run ends as Python's would
        status = 1
        record(error, text, lambda frame: frame.line if frame.path == str(path) else None, emit)
        print_traceback(error, shown)
    clock.stop()
    wall = time.perf_counter() - begun
    finish(observers, emit, status=status, wall_s=wall, imports_s=clock.seconds)
    return status


def finish(observers: list[Any], emit: EventWriter, **figures: float) -> None:
    """Let the observers say what they know at the end, then emit `end` with `figures` and the libraries' versions."""
    for observer in observers:
        try:
            observer.finish()
        except Exception as error:
            emit("observer_failed", observer=type(observer).__name__, message=f"{type(error).__name__}: {error}")
    versions = {name: str(getattr(sys.modules[name], "__version__", "")) for name in _VERSIONED if name in sys.modules}
    emit("end", versions=versions, **figures)


def record(error: BaseException, text: str, own: Callable[[stages.Frame], int | None], emit: EventWriter) -> None:
    """Emit `exception`. `own` tells the 1-based line of the script `text` that a frame is at, None for a frame of anything else."""
    frames = [frame for frame in stages.frames_of(error, error.__traceback__) if not frame.path.startswith(_OWN)]
    lines = [line for frame in frames if (line := own(frame)) is not None]
    line, top = (lines[-1], lines[0]) if lines else (None, None)
    cell = next((c for c in script.cells(text) if top and c.first_line <= top <= c.last_line), None)
    emit("exception", type=type(error).__name__, bases=[base.__name__ for base in type(error).__mro__[1:-1]],
         message=str(error), stage=stages.stage_of(error, frames), line=line, called_from=top,
         source=text.splitlines()[line - 1].strip() if line else None, cell=cell.stage if cell else None,
         frames=[[frame.path, frame.line, frame.function] for frame in frames[-30:]])


def print_traceback(error: BaseException, descriptor: int) -> None:
    """The traceback as the script alone would have given it, on a descriptor."""
    _write_all(descriptor, "".join(_without_own_frames(traceback.TracebackException.from_exception(error)).format()))


def _without_own_frames(shown: traceback.TracebackException) -> traceback.TracebackException:
    shown.stack[:] = [frame for frame in shown.stack if not frame.filename.startswith(_OWN)]
    for linked in (shown.__cause__, shown.__context__):
        if linked is not None:
            _without_own_frames(linked)
    return shown


def _write_all(descriptor: int, text: str) -> None:
    data = text.encode(errors="replace")
    while data:
        data = data[os.write(descriptor, data):]


def redirect_noise(path: str | None) -> int:
    """Send this process's stderr to a file, if one is given; returns a descriptor of the stderr there was."""
    shown = os.dup(2)
    if path:
        noise = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(noise, 2)
        os.close(noise)
    return shown


def main(request: dict[str, Any]) -> int:
    """Prepare this process as the request says, run the script, and return its status. For a fresh or a forked process."""
    descriptor = os.open(request["events"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    shown = redirect_noise(request["noise"])
    notes = crash.Notes(Path(request["events"]).parent)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    try:
        return run(request, EventWriter(descriptor), shown, notes)
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    request_path = Path(sys.argv[1])
    code = main(json.loads(request_path.read_text()))
    sys.stdout.flush()
    # Frameworks left half-dead by the specimen's error can hang or crash in their own exit handlers; everything is written by now.
    os._exit(code)
