"""Log-probabilities of an action that is drawn for them alone: read off a script's text."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

_DRAWS = ("sample", "rsample")


def written(script: Path) -> Place | None:
    """The first line that asks a distribution how likely its own new draw is, where that draw goes nowhere else."""
    tree = parsed.tree(str(script))
    for scope in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Module)):
        nodes = list(parsed.within(scope))
        drawn = {target.id: ast.unparse(node.value.func.value) for node in nodes if isinstance(node, ast.Assign) and _is_draw(node.value)
                 and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)
                 for target in node.targets if isinstance(target, ast.Name)}
        read = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        for call in nodes:
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "log_prob" and call.args):
                continue
            owner, asked = ast.unparse(call.func.value), call.args[0]
            nested = _is_draw(asked) and isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute) and ast.unparse(
                asked.func.value) == owner
            named = isinstance(asked, ast.Name) and drawn.get(asked.id) == owner and read.count(asked.id) == 1
            if nested or named:
                return str(script), call.lineno, getattr(scope, "name", "<module>")
    return None


def _is_draw(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _DRAWS and not value.args
