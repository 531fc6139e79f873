"""Where a child was when native code crashed: Python's `faulthandler` writes its stack, the parent reads it.

`faulthandler` keeps the innermost 100 frames. A script that crashes deep inside an import is not among them, so imports are noted before.
"""

from __future__ import annotations

import faulthandler
import re
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

_NAME = "crash.log"
NOISE = "noise.log"
_FRAME = re.compile(r'^  File "(?P<path>[^"]*)", line (?P<line>\d+) in (?P<function>.*)$', re.MULTILINE)
_OWN = str(Path(__file__).parents[1])
_IMPORTLIB = "<frozen importlib."
_IMPORT = re.compile(r'^Import in "(?P<path>[^"]*)", line (?P<line>\d+), (?P<function>.*)$', re.MULTILINE)
_LOADING = ("create_module", "exec_module")
_ENOUGH_BYTES = 2**16
_SAID_BYTES, _SAID_LINES = 2**14, 20


@dataclass(frozen=True)
class Crash:
    """What the stack tells: the script's own line (1-based) and function where they are still in it, and the package whose native library
    was being loaded, where that is what crashed. `said`: the last lines that the child wrote to its stderr."""

    line: int | None = None
    function: str = ""
    loading: str | None = None
    said: str = ""

    def __str__(self) -> str:
        at = f" at line {self.line}" if self.line else ""
        return at + (f", while a native library of {self.loading} was being loaded" if self.loading else "")


class Notes:
    """In the child: has the stack written into `folder` when a signal like SIGSEGV ends this process."""

    def __init__(self, folder: Path) -> None:
        # Kept open for as long as the process lives: at the crash nothing can be opened any more.
        self._file: IO[str] = (folder / _NAME).open("w", buffering=1)
        faulthandler.enable(self._file, all_threads=False)

    def importing(self, frame: FrameType) -> None:
        """A frame is about to import what has not been imported yet."""
        self._file.write(f'Import in "{frame.f_code.co_filename}", line {frame.f_lineno}, {frame.f_code.co_name}\n')


def read(folder: Path, script: Path | None = None) -> Crash:
    """In the parent: what a child that ran `script` left in `folder`, its stderr as `NOISE`; a `Crash` that says nothing where it left
    nothing."""
    path = folder / _NAME
    text = path.open(errors="replace").read(_ENOUGH_BYTES) if path.exists() else ""
    frames = [(found["path"], int(found["line"]), found["function"]) for found in _FRAME.finditer(text)]
    frames = [frame for frame in frames if not frame[0].startswith(_OWN)]
    loading = _loading(frames)
    if loading is not None and (imports := list(_IMPORT.finditer(text))):
        frames.append((imports[-1]["path"], int(imports[-1]["line"]), imports[-1]["function"]))
    line, function = next(((line, function) for path, line, function in frames if path == str(script)), (None, ""))
    return Crash(line, function, loading, _last_lines(folder / NOISE))


def _last_lines(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as noise:
        noise.seek(max(0, path.stat().st_size - _SAID_BYTES))
        return "\n".join(noise.read().decode(errors="replace").splitlines()[-_SAID_LINES:])


def _loading(frames: list[tuple[str, int, str]]) -> str | None:
    """The package whose extension module the import system was loading in the innermost frames."""
    inner = [function for path, _, function in frames[:2] if path.startswith(_IMPORTLIB)]
    if not any(function in _LOADING for function in inner):
        return None
    importer = next((path for path, _, _ in frames if not path.startswith(_IMPORTLIB)), "")
    parts = Path(importer).parts
    return parts[parts.index("site-packages") + 1] if "site-packages" in parts[:-1] else None
