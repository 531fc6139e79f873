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
from harness.frameworks.watch.sites import names_of

Loop = ast.For | ast.While
Names = dict[str, Any]

_LONGEST, _FOLLOWED = 10_000_000, 400
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
        self._turn: int | None = None
        self._before = 0
        self._whole: int | None = None

    def stepped(self, frames: Callable[[], list[FrameType]]) -> int | None:
        """Another step was taken below these frames of the script's, innermost first: how many it plans in all; None where that cannot be
        told. Where an inner loop does not tell its length, the turns of the outermost one that are over do.
        """
        self._taken += 1
        if self._whole is None and self._taken <= _FOLLOWED:
            loops = [(loop, names) for frame in frames()[::-1] if (around := _around(frame.f_code, frame.f_lineno))
                     for names in [names_of(frame)] for loop in around]
            self._whole = self._planned(loops) if loops else None
        return self._whole if self._whole is not None and self._taken <= self._whole <= _LONGEST else None

    def _planned(self, loops: list[tuple[Loop, Names]]) -> int | None:
        sizes = [_size(*loop) for loop in loops]
        self._follow(*loops[0])
        if sizes[0] is None:
            return None
        if None not in sizes:
            return math.prod(size for size in sizes if size is not None)
        return math.ceil(sizes[0] * self._before / self._turns) if self._turns else None

    def _follow(self, loop: Loop, names: Names) -> None:
        """Count the turns of the outermost loop by the name that it binds."""
        bound = [node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)] if isinstance(loop, ast.For) else []
        turn = id(names.get(bound[0])) if bound else None
        if self._turn is not None and turn != self._turn:
            self._turns, self._before = self._turns + 1, self._taken - 1
        self._turn = turn


@functools.lru_cache(maxsize=64)
def _around(code: CodeType, line: int) -> tuple[Loop, ...]:
    """The loops around a line of a function, within it, outermost first."""
    found = [node for node in ast.walk(parsed.tree(code.co_filename)) if isinstance(node, ast.For | ast.While)
             and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
             and (code.co_name == "<module>" or node.lineno >= code.co_firstlineno)]
    return tuple(sorted(found, key=lambda node: node.lineno))


def _size(loop: Loop, names: Names) -> int | None:
    with contextlib.suppress(Exception):  # names that are not there, lengths that are not known
        return _length(loop.iter, names) if isinstance(loop, ast.For) else None
    return None


def _length(given: ast.expr, names: Names) -> int | None:
    """How many items an expression gives; nothing is called for that which the script could notice."""
    if not isinstance(given, ast.Call):
        return len(value(given, names))
    name = name_of(given.func)
    if name in ("range", "trange"):
        return len(range(*(int(value(arg, names)) for arg in given.args)))
    if name == "zip":
        return min(length for arg in given.args if (length := _length(arg, names)) is not None)
    return _length(given.args[0], names) if name in _AROUND and given.args else None


def value(node: ast.expr, names: Names) -> Any:
    """What an expression of names, numbers, attributes and arithmetic is. Raises `LookupError` for everything else."""
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple():
            return node.elts
        case ast.Name():
            return names[node.id]
        case ast.Attribute():
            held = value(node.value, names)
            found = vars(held)[node.attr] if node.attr in getattr(held, "__dict__", {}) else inspect.getattr_static(held, node.attr)
            if isinstance(found, property):
                raise LookupError(node.attr)
            return found
        case ast.Subscript(slice=ast.Constant() as key):
            return value(node.value, names)[key.value]
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left, names), value(node.right, names))
        case ast.Call() if name_of(node.func) in _FUNCTIONS and not node.keywords:
            return _FUNCTIONS[name_of(node.func)](*(value(arg, names) for arg in node.args))
    raise LookupError(ast.dump(node))
