"""A script's text as Python's own tree, parsed once."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator

from harness.frameworks.watch.bindings import name_of

_RUNS, _DEEP = ("", "main"), 4  # where a script runs; functions inside of functions


@functools.lru_cache(maxsize=32)
def tree(file: str) -> ast.Module:
    """The tree of a file; an empty one where it is not there or is no Python."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])


def within(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or a module, in the order in which they are written, without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from within(child)


def names(part: ast.AST) -> set[str]:
    """The plain names in an expression or a statement."""
    return {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}


def of_self(node: ast.AST) -> bool:
    """Whether this is `self.something`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def function(whole: ast.Module, name: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function of this name that begins on a line, that of its first decorator or its own."""
    named = (node for node in ast.walk(whole) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name)
    return next((node for node in named if line in range(min([node.lineno, *(part.lineno for part in node.decorator_list)]),
                                                         node.body[0].lineno + 1)), None)


def calls(node: ast.AST, inside: str = "") -> Iterator[tuple[ast.Call, str]]:
    """All calls, and the names of the functions that they stand in; of those outside of any, an empty one."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, inside
        yield from calls(child, child.name if isinstance(child, ast.FunctionDef) else inside)


def led_back(whole: ast.Module, call: ast.Call, inside: str) -> tuple[ast.Call, str]:
    """The call that leads to one inside of a function, and so on up to where the script itself runs: the first of several."""
    for _ in range(_DEEP):
        above = [(node, outer) for node, outer in calls(whole) if name_of(node.func) == inside != outer] if inside not in _RUNS else []
        if not above:
            break
        call, inside = min(above, key=lambda found: (found[1] not in _RUNS, found[0].lineno))
    return call, inside
