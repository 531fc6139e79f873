"""How many steps the loops of a script plan: read off the loops around its step, and what the names in them hold while it runs."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import math
import operator
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of

_LONGEST = 10_000_000
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv,
    ast.Mod: operator.mod}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"len": len, "int": int, "min": min, "max": max, "round": round, "ceil": math.ceil}
_AROUND = ("enumerate", "tqdm", "track", "list", "iter", "reversed", "sorted")


class Plan:
    """Told of every step. What it tells is at most what will be taken less early ends, and more than that where gradients of several
    batches are added up."""

    def __init__(self) -> None:
        self._taken = 0
        self._turns = 0
        self._turn: Any = None
        self._before = 0

    def stepped(self, frames: list[FrameType]) -> int | None:
        """Another step was taken below these frames of the script's, outermost first: how many it plans in all; None where that cannot be
        told. Where an inner loop does not tell its length, the turns of the outermost one that are over do.
        """
        self._taken += 1
        loops = [(loop, frame) for frame in frames for loop in _around(frame.f_code, frame.f_lineno)]
        if not loops:
            return None
        sizes = [_size(loop, frame) for loop, frame in loops]
        self._follow(*loops[0])
        if sizes[0] is None:
            return None
        whole = math.prod(size for size in sizes if size is not None) if None not in sizes else None
        if whole is None and self._turns:
            whole = math.ceil(sizes[0] * self._before / self._turns)
        return whole if whole is not None and self._taken <= whole <= _LONGEST else None

    def _follow(self, loop: ast.For | ast.While, frame: FrameType) -> None:
        """Count the turns of the outermost loop by the name that it binds."""
        names = [node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)] if isinstance(loop, ast.For) else []
        turn = id(frame.f_locals.get(names[0])) if names else None
        if self._turn is not None and turn != self._turn:
            self._turns, self._before = self._turns + 1, self._taken - 1
        self._turn = turn


@functools.lru_cache(maxsize=64)
def _around(code: CodeType, line: int) -> tuple[ast.For | ast.While, ...]:
    """The loops around a line of a function, within it, outermost first."""
    found = [node for node in ast.walk(parsed.tree(code.co_filename)) if isinstance(node, ast.For | ast.While)
             and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
             and (code.co_name == "<module>" or node.lineno >= code.co_firstlineno)]
    return tuple(sorted(found, key=lambda node: node.lineno))


def _size(loop: ast.For | ast.While, frame: FrameType) -> int | None:
    with contextlib.suppress(Exception):  # names that are not there, lengths that are not known
        return _length(loop.iter, frame) if isinstance(loop, ast.For) else None
    return None


def _length(given: ast.expr, frame: FrameType) -> int | None:
    """How many items an expression gives; nothing is called for that which the script could notice."""
    if not isinstance(given, ast.Call):
        return len(_value(given, frame))
    name = name_of(given.func)
    if name in ("range", "trange"):
        return len(range(*(int(_value(arg, frame)) for arg in given.args)))
    if name == "zip":
        return min(length for arg in given.args if (length := _length(arg, frame)) is not None)
    return _length(given.args[0], frame) if name in _AROUND and given.args else None


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What an expression of names, numbers, attributes and arithmetic is. Raises `LookupError` for everything else."""
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple():
            return node.elts
        case ast.Name():
            return frame.f_locals[node.id] if node.id in frame.f_locals else frame.f_globals[node.id]
        case ast.Attribute():
            held = _value(node.value, frame)
            found = vars(held)[node.attr] if node.attr in getattr(held, "__dict__", {}) else inspect.getattr_static(held, node.attr)
            if isinstance(found, property):
                raise LookupError(node.attr)
            return found
        case ast.Subscript(slice=ast.Constant() as key):
            return _value(node.value, frame)[key.value]
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left, frame), _value(node.right, frame))
        case ast.Call() if name_of(node.func) in _FUNCTIONS and not node.keywords:
            return _FUNCTIONS[name_of(node.func)](*(_value(arg, frame) for arg in node.args))
    raise LookupError(ast.dump(node))
