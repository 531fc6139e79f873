"""Weights that a script means to keep while it trains on, and of which it keeps references: read off its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of

# A whole expression by its text: of `self.net.load_state_dict(best["model"])` the model and what it is given.
_Put = tuple[str, str]


def kept(script: Path) -> list[int]:
    """The lines on which `state_dict()` of a model is kept as it is, under a condition, and put back into the same model elsewhere."""
    tree = parsed.tree(str(script))
    puts = {(ast.unparse(call.func.value), ast.unparse(call.args[0])) for call in ast.walk(tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict" and call.args}
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    found = [node for condition in conditions for part in condition.body for node in ast.walk(part)
             if isinstance(node, ast.Assign) and any(put in puts for put in _puts(node))]
    return sorted({line for node in found for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)})


def _puts(node: ast.Assign) -> Iterator[_Put]:
    """What would put back what is assigned: under the same name, or as a part of the dict or tuple that has it."""
    for target in node.targets:
        name, value = ast.unparse(target), node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = [(ast.unparse(one), part) for one, part in zip(target.elts, value.elts, strict=True)]
        elif isinstance(value, ast.Dict):
            pairs = [(f"{name}[{ast.unparse(key)}]", part) for key, part in zip(value.keys, value.values, strict=True) if key is not None]
        elif isinstance(value, ast.Tuple | ast.List):
            pairs = [(f"{name}[{number}]", part) for number, part in enumerate(value.elts)]
        elif isinstance(value, ast.Call) and name_of(value.func) == "dict":
            pairs = [(f"{name}['{word.arg}']", word.value) for word in value.keywords]
        else:
            pairs = [(name, value)]
        for kept_as, part in pairs:
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "state_dict" and not (
                    part.args or part.keywords):
                yield ast.unparse(part.func.value), kept_as
