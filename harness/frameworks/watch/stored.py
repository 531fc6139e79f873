"""Where a script's text fills an array that it has made, and draws a parameter by hand."""

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
