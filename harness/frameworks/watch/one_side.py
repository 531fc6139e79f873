"""A temperature that softens the one side of a distillation alone: read off a script's text, where its square scales the loss."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_SOFT = ("softmax", "log_softmax")


def written(script: Path) -> Place | None:
    """The line that multiplies by `T ** 2`, or `T * T`, where the script divides by `T` in one place alone: within a softmax, in no
    function that is called for both sides."""
    tree = parsed.tree(str(script))
    squares = [(name, node.lineno) for node in ast.walk(tree) if isinstance(node, ast.BinOp) and (name := _square(node)) is not None]
    for name in dict.fromkeys(name for name, _ in squares):
        last = name.rpartition(".")[2]  # what one object keeps as its own, `self.T`, may be another's `settings.T`
        divided: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
                   and ast.unparse(node.right).rpartition(".")[2] == last]
        divided += [node for node in ast.walk(tree) if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div)
                    and ast.unparse(node.value).rpartition(".")[2] == last]
        soft = [call for call in ast.walk(tree) if isinstance(call, ast.Call) and name_of(call.func) in _SOFT
                and any(part is divided[0] for part in ast.walk(call))] if len(divided) == 1 else []
        if soft and not _called_again(tree, divided[0]) and not _other_names(tree, name):
            return str(script), next(line for each, line in squares if each == name), ""
    return None


def _square(node: ast.BinOp) -> str | None:
    if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 2:
        return ast.unparse(node.left)
    if isinstance(node.op, ast.Mult) and ast.unparse(node.left) == ast.unparse(node.right):
        return ast.unparse(node.left)
    return None


def _called_again(tree: ast.Module, division: ast.AST) -> bool:
    """Whether the function that divides is called in several places."""
    around = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and any(part is division for part in ast.walk(node))]
    inner = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and any(part is division for part in ast.walk(node))]
    names = {node.name for node in around}
    calls = [call for call in ast.walk(tree) if isinstance(call, ast.Call) and name_of(call.func) in names]
    return bool(inner) or (bool(around) and len(calls) > 1)


def _other_names(tree: ast.Module, name: str) -> bool:
    """Whether the temperature is handed on by another name, or is a factor of something: who multiplies by 1 / T divides as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any(ast.unparse(value) == name for value in (*node.args, *(w.value for w in node.keywords))):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and ast.unparse(node.left) in ("1", "1.0") and any(
                ast.unparse(part) == name for part in ast.walk(node.right) if isinstance(part, ast.expr)):
            return True
    return False
