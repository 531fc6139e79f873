"""Where a script's text fills an array that it has made, keeps one that it goes on writing into, and draws a parameter by hand."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place, Sites

_DRAWN = {"randn", "rand", "normal", "empty", "randn_like", "rand_like"}


def filled(name: str, script: Path, sites: Sites) -> Place | None:
    """The line that writes into an array of this name, `labels[i, j] = tag`, if one does."""
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Subscript)
             and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == name]
    return (str(script), lines[0], "<module>") if len(lines) == 1 and sites.is_own(str(script)) else None


def drawn_parameter(script: Path, sites: Sites) -> Place | None:
    """The first `nn.Parameter(torch.randn(...))` of a script."""
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Call) and node.args
             and ast.unparse(node.func).rpartition(".")[2] == "Parameter" and any(
                 isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _DRAWN
                 for inner in ast.walk(node.args[0]))]
    return (str(script), min(lines), "<module>") if lines and sites.is_own(str(script)) else None


def same_row(script: Path, sites: Sites) -> Place | None:
    """The line that appends, in a loop, an array which the loop writes into and which is made outside of it."""
    for loop in ast.walk(parsed.tree(str(script))):
        if not isinstance(loop, ast.For | ast.While):
            continue
        inside = [node for part in loop.body for node in ast.walk(part)]
        made = {target.id for node in inside if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
        written = {node.value.id for node in inside if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
                   and isinstance(node.value, ast.Name)}
        written |= {node.target.id for node in inside if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)}
        written |= {node.func.value.id for node in inside if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Name) and (node.func.attr == "fill" or node.func.attr.endswith("_"))}
        for node in inside:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append" and len(node.args) == 1:
                given = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List) else node.args
                if any(isinstance(one, ast.Name) and one.id in written - made for one in given) and sites.is_own(str(script)):
                    return str(script), node.lineno, "<module>"
    return None
