"""Where a mask is made that a line of the script hands to an attention."""

from __future__ import annotations

import ast

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

_MASK = "mask"


def of(place: Place | None) -> Place | None:
    """The only line of a script that makes something of the name of a mask which the function of `place` gets as an argument and uses on
    that line; `place` itself where there is none, or several."""
    if place is None:
        return None
    tree = parsed.tree(place[0])
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
                 and node.lineno <= place[1] <= (node.end_lineno or node.lineno)]
    inner = max(functions, key=lambda node: node.lineno, default=None)
    if inner is None:
        return place
    taken = {argument.arg for argument in (*inner.args.args, *inner.args.kwonlyargs) if _MASK in argument.arg.lower()}
    used = {node.id for node in ast.walk(inner) if isinstance(node, ast.Name) and node.id in taken
            and node.lineno <= place[1] <= (node.end_lineno or node.lineno)}
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assign)
             and any(isinstance(target, ast.Name) and target.id in used for target in node.targets)}
    return (place[0], lines.pop(), place[2]) if len(lines) == 1 else place
