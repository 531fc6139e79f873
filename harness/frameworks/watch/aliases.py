"""Where a script hides tokens in vain: in one array that has two names, or in a copy that nobody keeps."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

_FILLING = ("masked_fill", "masked_scatter", "scatter", "index_fill")  # that leave their tensor as it is


def written(script: Path) -> Place | None:
    """The first line that drops what was filled (`ids.masked_fill(...)` by itself), or else gives an array a second name before it writes
    into it: `inputs = tokens`, `inputs[masked] = MASK`."""
    tree = parsed.tree(str(script))
    dropped = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
               and getattr(node.value.func, "attr", "") in _FILLING]
    if dropped:
        return str(script), min(dropped), "<module>"
    scopes: list[ast.AST] = [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))]
    lines = []
    for scope in scopes:
        nodes = list(parsed.within(scope))
        filled = {(_name(target.value), node.lineno) for node in nodes if isinstance(node, ast.Assign)
                  for target in node.targets if isinstance(target, ast.Subscript)}
        filled |= {(_name(node.func.value), node.lineno) for node in nodes if isinstance(node, ast.Call)
                   and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("masked_fill_")}
        lines += [node.lineno for node in nodes if isinstance(node, ast.Assign) and len(node.targets) == 1
                  and _name(node.value) and _name(node.targets[0])
                  and any(name in (_name(node.value), _name(node.targets[0])) and line > node.lineno for name, line in filled)]
    return (str(script), min(lines), "<module>") if lines else None


def _name(node: ast.expr) -> str:
    """A name, an attribute or an entry under a constant name, as it is written; empty for anything that is computed."""
    entry = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) or entry else ""
