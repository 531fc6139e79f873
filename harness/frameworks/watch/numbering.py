"""Where a script gives names their numbers, each time that a function of its own is called."""

from __future__ import annotations

import ast
import re

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_OF_TEXT = re.compile(r"vocab|token|word|char|letter", re.IGNORECASE)


def anew(file: str) -> Place | None:
    """The only line within a function that numbers what it finds, `{name: i for i, name in enumerate(...)}`; vocabularies aside."""
    found = [(node.lineno, function.name) for function in ast.walk(parsed.tree(file)) if isinstance(function, ast.FunctionDef)
             for node in ast.walk(function) if isinstance(node, ast.DictComp) and _numbers(node) and not _OF_TEXT.search(ast.unparse(node))]
    return (file, *found[0]) if len(found) == 1 else None


def _numbers(node: ast.DictComp) -> bool:
    loop = node.generators[0]
    if not isinstance(loop.iter, ast.Call) or name_of(loop.iter.func) != "enumerate" or not isinstance(loop.target, ast.Tuple):
        return False
    counter, name = loop.target.elts
    return ast.dump(node.value) == ast.dump(_read(counter)) and ast.dump(node.key) == ast.dump(_read(name))


def _read(target: ast.expr) -> ast.expr:
    """A name that a loop binds, as it stands where it is used."""
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target
