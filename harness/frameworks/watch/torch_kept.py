"""Tensors with a history that modules keep as plain attributes: made once, they belong to a graph that the first backward pass frees."""

from __future__ import annotations

import ast
import linecache
from typing import Any

from harness.frameworks.watch.sites import Place, Sites


def assignment(torch: Any, roots: list[Any], sites: Sites) -> Place | None:
    """Where a module of the script's own keeps such a tensor, None where none does."""
    for module in (module for root in roots for module in root.modules()):
        for name, value in vars(module).items():
            if torch.is_tensor(value) and value.grad_fn is not None:
                place = _written(type(module), name, sites)
                if place is not None:
                    return place
    return None


def _written(owner: type, name: str, sites: Sites) -> Place | None:
    """The line of a class that first assigns `self.name`."""
    file = next((made.__code__.co_filename for made in vars(owner).values() if hasattr(made, "__code__")), None)
    if file is None or not sites.is_own(file):
        return None
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == owner.__name__]
    lines = [node.lineno for written in classes for node in ast.walk(written)
             if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)]
    return (file, min(lines), owner.__name__) if lines else None
