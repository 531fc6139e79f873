"""Methods of a script's own that are written for a library to call, under a name that it never calls."""

from __future__ import annotations

import ast
import difflib
import inspect
import sys
from collections.abc import Iterable
from typing import Any

from harness.checks.training_facts import OverrideFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import site

_EVENT = "on_"
_WORDS = {"start": "begin", "started": "begin", "finish": "end", "finished": "end", "stop": "end", "done": "end"}
_CLOSE = 0.85  # of all letters; of those of another event any: a callback has nothing but events that begin so


def look(session: WatchSession, things: Iterable[Any]) -> None:
    """Callbacks, trainers and models that a library has been given: remember the first method that nobody calls."""
    for thing in things:
        if session.observation.uncalled_override is None:
            session.observation.uncalled_override = _uncalled(session, type(thing))


def _uncalled(session: WatchSession, kind: type) -> OverrideFacts | None:
    own = [part for part in kind.__mro__ if any(session.sites.is_own(code.co_filename) for _, code in _methods(part))]
    library = next((part for part in kind.__mro__ if part not in own and part is not object), None)
    if not own or library is None:
        return None
    known = [name for name in dir(library) if callable(getattr(library, name, None)) and not name.startswith("_")]
    event = "callback" in library.__name__.lower()
    for part in own:
        for name, code in _methods(part):
            if name.startswith("_") or name in known or not session.sites.is_own(code.co_filename):
                continue
            meant = "_".join(_WORDS.get(word, word) for word in name.split("_"))
            close = difflib.get_close_matches(meant, known, n=1, cutoff=0.0 if event and name.startswith(_EVENT) else _CLOSE)
            if close and not _named(name, {code.co_filename, str(session.script), *_files(session)}):
                line = code.co_firstlineno
                return OverrideFacts(kind=part.__name__, library=library.__name__, name=name, closest=close[0],
                                     site=site((code.co_filename, line, name)))
    return None


def _methods(kind: type) -> list[tuple[str, Any]]:
    return [(name, value.__code__) for name, value in vars(kind).items() if inspect.isfunction(value)]


def _files(session: WatchSession) -> list[str]:
    """The script's own modules that are loaded by now."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return [file for file in files if isinstance(file, str) and session.sites.is_own(file)]


def _named(name: str, files: set[str]) -> bool:
    """Whether a script calls a method itself, by its name or by one that it puts together."""
    for node in (node for file in files for node in ast.walk(parsed.tree(file))):
        if isinstance(node, ast.Attribute) and node.attr == name:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (
                node.value == name or (node.value.endswith("_") and name.startswith(node.value))):
            return True
    return False
