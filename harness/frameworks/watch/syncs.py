"""Where a script brings the weights of one model into another while it trains, and after how many steps each time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_COPIES = ("load_state_dict", "set_weights", "copy_", "assign", "lerp_")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Sync:
    """`place`: of the condition that it is under, if any; `every`: by what a count of steps is divided there, `step % every == 0`."""

    place: Place
    every: ast.expr | None = None


def of(script: Path) -> list[Sync]:
    """Those under a condition first. What a script does once before its loops is left out, and what stands in a function that it never
    names again."""
    tree = parsed.tree(str(script))
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found = [Sync((str(script), line, "<module>"), every) for line, every, inside in _found(tree, ()) if inside in named | {""}]
    return sorted(dict.fromkeys(found), key=lambda sync: sync.every is None)


def _found(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[tuple[int, ast.expr | None, str]]:
    """Line, count and function, empty where it is in none."""
    if isinstance(node, ast.Call) and name_of(node.func) in _COPIES:
        function = next((outer.name for outer in reversed(around) if isinstance(outer, Function)), "")
        condition = next((outer for outer in reversed(around) if isinstance(outer, ast.If)), None)
        if condition is not None:
            yield condition.lineno, next((part.right for part in ast.walk(condition.test)
                                          if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod)), None), function
        elif not _once(around):
            yield node.lineno, None, function
    for child in ast.iter_child_nodes(node):
        yield from _found(child, (*around, node))


def _once(around: tuple[ast.AST, ...]) -> bool:
    """Whether it runs before the training: outside of every loop, in a constructor or beside the loops themselves."""
    function = next((outer for outer in reversed(around) if isinstance(outer, Function)), None)
    inside = around[around.index(function):] if function is not None else around
    if any(isinstance(outer, ast.For | ast.While) for outer in inside):
        return False
    return function is None or function.name == "__init__" or any(isinstance(part, ast.For | ast.While) for part in ast.walk(function))
