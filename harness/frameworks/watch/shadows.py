"""Files of the user's own that are imported in place of a library."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from harness.frameworks.watch.sites import Sites


def found(error: BaseException, sites: Sites) -> str:
    """Path of the file, of those that an exception has to do with; empty where there is none."""
    for path, by_library in [*_executed(error, sites), *_named(error, sites)]:
        name = Path(path).stem
        if by_library or name in sys.stdlib_module_names or _elsewhere(name, Path(path).parent):
            return path
    return ""


def _executed(error: BaseException, sites: Sites) -> Iterator[tuple[str, bool]]:
    """Own files that were being imported, with whether a library asked for them. The first own frame is the script itself.

    Of the traceback alone: what a graph tells of the place where it was made names the script's lines a second time.
    """
    before: str | None = None
    own = 0
    for frame, _ in traceback.walk_tb(error.__traceback__):
        path, function = frame.f_code.co_filename, frame.f_code.co_name
        own += sites.is_own(path)
        if own > 1 and function == "<module>" and sites.is_own(path):
            yield path, before is not None and not sites.is_own(before)
        if "importlib" not in path:
            before = path


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
