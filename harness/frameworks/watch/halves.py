"""Where a script asks for weights in half precision, read off its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

HALVES = ("bfloat16", "float16")
_ASKS = ("set_dtype_policy", "set_global_policy", "set_floatx", "set_default_dtype", "half", "bfloat16")
_WORDS = ("dtype", "torch_dtype")
_OTHERWISE = ("autocast", "astype", "cast", "view")  # of numbers on their way, not of weights


def written(script: Path) -> Place | None:
    """The first line that sets a type of 16 bits for weights: as a policy or a default, of a model, as an argument, or else by a name that
    the script gives it; None where it does not say so, as where a checkpoint was saved in it."""
    tree = parsed.tree(str(script))
    passing = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in _OTHERWISE for part in ast.walk(node)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in passing]
    asked = [node.lineno for node in calls if _called(node) in _ASKS and (_called(node) in HALVES or _called(node) == "half"
                                                                       or any(_names(part) for part in ast.walk(node)))]
    given = [word.value.lineno for node in calls for word in node.keywords if word.arg in _WORDS and _names(word.value)]
    other = [node.lineno for node in _plain(tree) if id(node) not in passing]
    lines = asked or given or other
    return (str(script), min(lines), "<module>") if lines else None


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def _names(node: ast.AST) -> bool:
    return getattr(node, "attr", None) in HALVES or (isinstance(node, ast.Constant) and node.value in HALVES)


def _plain(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and _names(node):
            yield node
