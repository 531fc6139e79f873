"""Helpers that only make something and give it back: where they are asked for it, read off a script's text."""

from __future__ import annotations

import ast

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place


def asked(place: Place | None) -> Place | None:
    """Of a place in a `return` statement, the only call of that function; None for any other place, and where there are more calls."""
    if place is None:
        return None
    file, line, function = place
    tree = parsed.tree(file)
    returned = any(isinstance(node, ast.Return) and node.lineno <= line <= (node.end_lineno or line) for node in ast.walk(tree))
    if not returned or function.startswith("<"):
        return None
    calls = [(node, call) for node in [tree, *(part for part in ast.walk(tree) if isinstance(part, ast.FunctionDef))]
             for call in parsed.within(node) if isinstance(call, ast.Call) and name_of(call.func) == function]
    if len(calls) != 1:
        return None
    owner, call = calls[0]
    return file, call.lineno, getattr(owner, "name", "<module>")
