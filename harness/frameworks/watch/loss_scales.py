"""Where a script multiplies its loss by a number, read off its text."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

_LEAST = 16


def written(script: Path) -> Place | None:
    """The first line that multiplies something called a loss by a large number, or by a name (in capitals, say) that stands for one."""
    tree = parsed.tree(str(script))
    numbers = {name: value for node in ast.walk(tree) for name, value in _assigned(node)}
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
             and any(_is_loss(one) and _number(other, numbers) >= _LEAST
                     for one, other in ((node.left, node.right), (node.right, node.left)))]
    return (str(script), min(lines), "<module>") if lines else None


def _assigned(node: ast.AST) -> list[tuple[str, float]]:
    """Names, attributes and arguments that are given a plain number."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        value = _number(node.value, {})
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [(_name(target), value) for target in targets if value]
    if isinstance(node, ast.arguments):
        pairs = [*zip(node.args[len(node.args) - len(node.defaults):], node.defaults, strict=True),
                 *((word, default) for word, default in zip(node.kwonlyargs, node.kw_defaults, strict=True) if default is not None)]
        return [(word.arg, _number(default, {})) for word, default in pairs if _number(default, {})]
    return []


def _name(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _is_loss(node: ast.AST) -> bool:
    return any("loss" in _name(part).lower() for part in ast.walk(node))


def _number(node: ast.AST, known: dict[str, float]) -> float:
    """What an expression of numbers comes to, 0 where it is something else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left, known), _number(node.right, known)
        if isinstance(node.op, ast.Pow) and 0 < left <= 16 and right <= 64:
            return left ** right if right else 0.0
        return left * right if isinstance(node.op, ast.Mult) else 0.0
    return known.get(_name(node), 0.0)
