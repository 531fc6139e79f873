"""Calls of a script that no hook could hear: methods of arrays, `mask.clip(0, 4)`, and functions of its own, known by their names.

Lines, tracebacks and the file are the script's own; where nobody watches, what is called is called.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import equals
from harness.frameworks.watch.bindings import name_of

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

NAME = "__call_in_watched_script__"

# Told what was called, with what, and what came out.
Listener = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]

MERGING = frozenset(("clip", "clamp", "clip_by_value", "minimum", "where", "masked_fill"))
SHARING = frozenset(("shard", "DistributedSampler", "split_dataset_by_node"))
RANKING = frozenset(("argsort", "argmax", "argmin", "argpartition"))
OVERLAP = re.compile(r"(^|_)(g|d|c)?iou|iou(_|$)|jaccard|box_overlap")
CONVERTING = re.compile(r"corner|xyxy|xywh|cxcy|ltrb|box_?convert|convert_?box")
SUPPRESSING = re.compile(r"(^|_)nms(_|$)|non_?max|suppress")


def _called(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


setattr(builtins, NAME, _called)


def mark(tree: ast.Module, text: str) -> None:
    """Puts `NAME(f, a, b)` in the place of each call `f(a, b)` in a script's `tree` that somebody listens to: by the name of `f`, and those
    of overlap, suppression and forms of boxes where the script defines `f` itself. A script that has its functions compiled is left as it
    is."""
    if equals.COMPILED.search(text):
        return
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _heard(name_of(node.func), defined):
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name(id=NAME, ctx=ast.Load()), node.func)


def _heard(name: str, defined: set[str]) -> bool:
    own = any(kind.search(name.lower()) for kind in (OVERLAP, SUPPRESSING, CONVERTING)) if name in defined else False
    return own or (
        name in MERGING | RANKING | SHARING and name not in defined)


class OwnCalls:
    """Tells listeners of the marked calls, by the name of what is called."""

    def __init__(self, session: WatchSession, listeners: Callable[[str], Listener | None]) -> None:
        self._session, self._find = session, listeners
        self._known: dict[str, Listener | None] = {}

    def attach(self) -> None:
        """Listen in a script that is marked."""
        self._session.patches.replace(builtins, NAME, self._wrap)

    def _wrap(self, original: Any) -> Any:
        session, known = self._session, self._known

        def called(function: Any, /, *args: Any, **kwargs: Any) -> Any:
            made = function(*args, **kwargs)
            name = getattr(function, "__name__", "")
            if name not in known:
                known[name] = self._find(name)
            listener = known[name]
            if listener is not None and session.active:
                session.safely(f"a call of {name}", listener, function, args, kwargs, made)
            return made

        return called
