"""Files of the user's own that are imported in place of a library."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from harness.frameworks.stages import Frame
from harness.frameworks.watch.sites import Sites

_IMPORTING = "importlib"


def found(error: BaseException, frames: Sequence[Frame], sites: Sites) -> str:
    """Path of the file, of those that an exception has to do with; empty where there is none. `frames`: outermost first."""
    for path, by_library in [*_executed(frames, sites), *_named(error, sites)]:
        name = Path(path).stem
        if by_library or name in sys.stdlib_module_names or _elsewhere(name, Path(path).parent):
            return path
    return ""


def _executed(frames: Sequence[Frame], sites: Sites) -> Iterator[tuple[str, bool]]:
    """Own files that were being imported, with whether a library asked for them. The first own frame is the script itself."""
    own = [number for number, frame in enumerate(frames) if sites.is_own(frame.path)]
    before: Frame | None = None
    for number, frame in enumerate(frames):
        if number in own[1:] and frame.function == "<module>":
            yield frame.path, before is not None and not sites.is_own(before.path)
        if _IMPORTING not in frame.path:
            before = frame


def _named(error: BaseException, sites: Sites) -> Iterator[tuple[str, bool]]:
    """Own modules that the message speaks of."""
    if not isinstance(error, ImportError | AttributeError):
        return
    spoken = set(re.findall(r"'([A-Za-z_]\w*)", str(error)))
    for name in spoken & set(sys.modules):
        module = sys.modules[name]
        path = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
        if path and sites.is_own(path):
            yield path, False


def _elsewhere(name: str, folder: Path) -> bool:
    """Whether a module of this name would be imported if the folder were not looked into."""
    others = [path for path in sys.path if Path(path or ".").resolve() != folder.resolve()]
    spec = PathFinder.find_spec(name, others)
    return spec is not None and spec.origin is not None
