"""The `==` of a script's arrays, `(guess == y).mean()`: a method of arrays cannot be hooked, so a function stands there while it runs.

Lines, tracebacks and the file are the script's own; where nobody watches, the function is `operator.eq`.
"""

from __future__ import annotations

import ast
import builtins
import operator
import re
from collections.abc import Callable
from typing import Any

NAME = "__equal_in_watched_script__"

setattr(builtins, NAME, operator.eq)

# What is compiled from its bytecode is to find nothing that it does not know.
COMPILED = re.compile(r"\bnumba\b|\b(n?jit|guvectorize|vectorize)\b|torch\.compile|torch\._dynamo")
_READ = (ast.Attribute, ast.Subscript, ast.Assign, ast.AnnAssign, ast.Call, ast.BinOp, ast.keyword, ast.Return)


def mark(tree: ast.Module, text: str) -> None:
    """Puts `NAME(a, b)` in the place of each `a == b` of a script's `tree` of which something is made: not where a statement or another
    condition asks for it, nor where one side is written out. A script that has its functions compiled is left as it is."""
    if COMPILED.search(text):
        return
    for parent in list(ast.walk(tree)):
        if not isinstance(parent, _READ):
            continue
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                value[:] = [_called(each) for each in value]
            elif isinstance(value, ast.Compare):
                setattr(parent, field, _called(value))


def _called(node: Any) -> Any:
    if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not isinstance(node.ops[0], ast.Eq):
        return node
    sides = [node.left, node.comparators[0]]
    if any(isinstance(part, ast.Constant | ast.UnaryOp | ast.List | ast.Tuple | ast.Dict) for part in sides):
        return node
    made = ast.Call(func=ast.Name(id=NAME, ctx=ast.Load()), args=sides, keywords=[])
    for part in (made, made.func):
        ast.copy_location(part, node)
    return made


def hook(replace: Callable[[Any, str, Callable[[Any], Any]], None], make: Callable[[Any], Any]) -> None:
    """Has `make(operator.eq)` called in a script that is marked, until `replace` takes it back."""
    replace(builtins, NAME, make)
