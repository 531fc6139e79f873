"""Memories of transitions, (state, action, reward, next state, end): does one array stand in them for a state and for the next one?"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.data_facts import TransitionFacts
from harness.checks.observation import Observation
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Sites, names_of, site

STEPS = 3
_LEAST, _LOOKED, _PARTS, _MOST = 16, 64, 3, 9
_SHARE = 0.9
_SHARING = ("as_tensor", "from_numpy", "asarray", "frombuffer", "ravel", "view")
_KEEPS = ("append", "push", "add", "store", "remember", "save", "put", "record", "cache", "memorize", "memorise", "insert")


def note(seen: Observation, sites: Sites) -> None:
    """A gradient is about to be taken: looks at what the script's own frames know, and at what their objects hold."""
    if seen.transitions is not None or not 0 < len(seen.steps) <= STEPS:
        return
    done: set[int] = set()
    for frame in sites.frames():
        for memory in _memories(names_of(frame), done):
            found = _same(list(memory)[-_LOOKED:])
            if found is not None:
                line = _handed_out(sites.script) or _kept(sites.script)
                seen.transitions = TransitionFacts(rows=found[0], same=found[1],
                                                   site=site((str(sites.script), line, "<module>")) if line else sites.here())
                return


def _memories(names: Mapping[str, Any], done: set[int]) -> Iterator[Any]:
    """Lists and deques of tuples that have names, or are attributes of the script's own objects, or of own objects that these have."""
    for value in names.values():
        own = _own(value)
        for one in (value, *own, *(part for inner in own for part in _own(inner))):
            if isinstance(one, list | deque) and len(one) >= _LEAST and id(one) not in done and isinstance(one[-1], tuple):
                done.add(id(one))
                yield one


def _own(value: Any) -> list[Any]:
    """What an object of the script's own has."""
    return list(vars(value).values()) if type(value).__module__ == "__main__" and hasattr(value, "__dict__") else []


def _same(rows: list[Any]) -> tuple[int, int] | None:
    """Of rows that hold arrays, and numbers beside them, how many there are, and how many hold one array twice."""
    looked = same = 0
    for row in rows:
        if not isinstance(row, tuple) or not _PARTS < len(row) <= _MOST:
            return None
        arrays = [part for part in row if (isinstance(part, np.ndarray) or tensors.is_tensor(part)) and len(part.shape) > 0]
        if len(arrays) < 2 or len(arrays) == len(row):
            return None
        looked += 1
        same += len({_place(part) for part in arrays}) < len(arrays)
    return (looked, same) if looked >= _LEAST and same >= _SHARE * looked else None


def _place(part: Any) -> tuple[Any, ...]:
    """Where the numbers of an array or tensor lie: two of them may be one and the same memory."""
    if isinstance(part, np.ndarray):
        return part.__array_interface__["data"][0], part.shape
    return (tensors.address(part) if str(getattr(part, "device", "cpu")) in ("cpu", "cpu:0") and hasattr(part, "data_ptr") else id(part),
            tuple(part.shape))


def _handed_out(script: Path) -> int | None:
    """Where the `step` of an environment, or a method that it asks for what it returns, hands out an attribute, and not a copy of it, that
    its class writes into."""
    for owner in (node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.ClassDef)):
        written = {ast.unparse(node.value) for node in ast.walk(owner)
                   if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)}
        for method in (node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "step"):
            returned = [node for node in ast.walk(method) if isinstance(node, ast.Return) and node.value is not None]
            for node in returned:
                parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] if node.value is not None else []
                if any(_shares(part) in written for part in parts):
                    return node.lineno
                asked = {part.func.attr for part in parts if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)}
                inner = [each for other in owner.body if isinstance(other, ast.FunctionDef) and other.name in asked
                         for each in ast.walk(other) if isinstance(each, ast.Return) and each.value is not None]
                line = next((each.lineno for each in inner if each.value is not None and _shares(each.value) in written), None)
                if line is not None:
                    return line
    return None


def _shares(value: ast.expr) -> str:
    """The attribute whose memory this is: itself, or as a tensor or array that does not copy it; empty for anything else."""
    while isinstance(value, ast.Call) and name_of(value.func) in _SHARING and value.args:
        value = value.args[0]
    return ast.unparse(value) if isinstance(value, ast.Attribute) else ""


def _kept(script: Path) -> int | None:
    """The line that keeps a tuple of four parts or more, or hands as many to a memory."""
    calls = [(node.func.attr, node) for node in ast.walk(parsed.tree(str(script)))
             if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    whole = (call.lineno for name, call in calls if name == "append" and len(call.args) == 1
             and isinstance(call.args[0], ast.Tuple) and len(call.args[0].elts) > _PARTS)
    parts = (call.lineno for name, call in calls if name in _KEEPS and len(call.args) > _PARTS)
    return next(whole, None) or next(parts, None)
