"""Rows that a script mixes with other rows of their batch, and whose targets it does not: the text tells."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_SHAPING = ("view", "reshape", "unsqueeze", "expand_dims")
_TAKING = ("gather", "index_select", "take")


def alone(script: Path) -> Place | None:
    """Where `w * x + (1 - w) * x[order]` stands, if the order is used for nothing else: no target, and no loss, can be mixed by it."""
    for function in (node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.FunctionDef | ast.Module)):
        names = [node.id for node in parsed.within(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        for node in (node for node in parsed.within(function) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
            order = _order(node)
            if order is not None and names.count(order) == 1:
                return str(script), node.lineno, getattr(function, "name", "<module>")
    return None


def _order(node: ast.BinOp) -> str | None:
    """The name of the order in a mixture of rows with others of the same, each by its share."""
    sides = [side for side in (node.left, node.right) if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult)]
    if len(sides) != 2:
        return None
    for one, other in (sides, sides[::-1]):
        for share, rows in ((one.left, one.right), (one.right, one.left)):
            for rest, moved in ((other.left, other.right), (other.right, other.left)):
                complement = isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Sub) and ast.dump(rest.right) == ast.dump(share)
                taken = _taken(moved)
                if complement and _named(share) and taken is not None and ast.dump(taken[0]) == ast.dump(rows):
                    return taken[1]
    return None


def _named(share: ast.expr) -> bool:
    """Whether a share has a name; one for each row is brought to the rows' axes: `w[:, None]`, `w.view(-1, 1)`, `tf.reshape(w, ...)`."""
    while not isinstance(share, ast.Name):
        if isinstance(share, ast.Subscript):
            share = share.value
        elif isinstance(share, ast.Call) and name_of(share.func) in _SHAPING:
            share = share.func.value if isinstance(share.func, ast.Attribute) and share.func.attr != "expand_dims" else share.args[0]
        else:
            return False
    return True


def _taken(node: ast.expr) -> tuple[ast.expr, str] | None:
    """What is taken of something by an order that has a name: `x[order]`, `tf.gather(x, order)`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
        return node.value, node.slice.id
    if isinstance(node, ast.Call) and name_of(node.func) in _TAKING and len(node.args) > 1 and isinstance(node.args[-1], ast.Name):
        return node.args[0], node.args[-1].id
    return None
