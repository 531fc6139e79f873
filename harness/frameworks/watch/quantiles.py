"""Losses of quantiles: to which level do they pull, and which levels does the script name?

By an answer below its target such a loss has a derivative of minus the level, by one above it of one minus the level: two numbers, whatever
the rows hold.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.loss_facts import QuantileFacts
from harness.checks.observation import Observation
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place, site

STEPS = 40
_LEAST, _EVEN, _NEAR, _MOST = 4, 1e-3, 0.01, 12
_LEVEL = re.compile(r"^q$|^qs$|quant|^taus?$|pinball", re.IGNORECASE)

Array = np.ndarray[Any, Any]


@functools.lru_cache(maxsize=8)
def levels(script: Path) -> tuple[tuple[float, ...], ...]:
    """The levels that a script names: lists of several numbers between 0 and 1, and single ones by names that speak of quantiles."""
    tree = parsed.tree(str(script))
    if not any(_LEVEL.search(name) for name in _names(tree)):
        return ()
    found = [one for node in ast.walk(tree) for one in _written(node) if one and len(one) <= _MOST]
    numbers = [tuple(map(_number, one)) for one in found]
    return tuple(dict.fromkeys(one for one in numbers if all(0 < value < 1 for value in one)))


def _number(value: ast.expr) -> float:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, float) else 0.0


def _written(node: ast.AST) -> list[list[ast.expr]]:
    """What may be levels: a list, and what a name that speaks of quantiles stands for."""
    if isinstance(node, ast.List | ast.Tuple):
        return [node.elts]
    if isinstance(node, ast.FunctionDef):
        defaults = zip(reversed(node.args.args), reversed(node.args.defaults), strict=False)
        return [[value] for argument, value in defaults if _LEVEL.search(argument.arg)]
    if isinstance(node, ast.Call) and _LEVEL.search(ast.unparse(node.func).rpartition(".")[2]):
        return [[part] for part in node.args]
    named = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _LEVEL.search(node.targets[0].id)
    if named or (isinstance(node, ast.keyword) and node.arg and _LEVEL.search(node.arg)):
        return [[node.value]] if isinstance(node, ast.Assign | ast.keyword) else []
    return []


def note(seen: Observation, script: Path, pull: Array) -> bool:
    """`pull`: the derivative of a loss by a model's answers, float[rows] or float[rows, levels]. Whether it told what it pulls to."""
    rows = pull.reshape(len(pull), -1).astype(np.float64) if pull.ndim else pull.reshape(1, 1)
    if not 0 < rows.shape[1] <= _MOST:
        return False
    learnt = [_level(column) for column in rows.T]
    if any(value is None for value in learnt):
        return False
    found = tuple(value for value in learnt if value is not None)
    named = [one for one in levels(script) if len(one) == len(found)]
    single = {value for one in levels(script) for value in one} if len(found) == 1 else set()
    if any(_same(one, found) for one in named) or any(_same((value,), found) for value in single):
        return True
    meant = next((one for one in named if _same(tuple(1 - value for value in one), found)), None)
    if meant is not None and any(abs(value - 0.5) > _NEAR for value in meant):
        seen.quantiles = QuantileFacts(meant=list(meant), learnt=[round(value, 3) for value in found], site=site(_place(script)))
    return True


def _level(column: Array) -> float | None:
    """The level that the derivatives by one answer of each row pull to; None where they are not two numbers of both signs."""
    below, above = -column[column < 0], column[column > 0]
    if len(column) < _LEAST or not len(below) or not len(above):
        return None
    if max(np.ptp(below) / below.max(), np.ptp(above) / above.max()) > _EVEN:
        return None
    return float(below.mean() / (below.mean() + above.mean()))


def _same(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(abs(here - there) < _NEAR for here, there in zip(one, other, strict=True))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def _place(script: Path) -> Place | None:
    """The difference in the script's function that takes the larger of two products, or that asks for a sign."""
    for scope in ast.walk(parsed.tree(str(script))):
        if isinstance(scope, ast.FunctionDef):
            inside = [node for part in scope.body for node in ast.walk(part)]
            calls = {ast.unparse(node.func).rpartition(".")[2] for node in inside if isinstance(node, ast.Call)}
            differences = [node.lineno for node in inside if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
                           and not isinstance(node.left, ast.Constant) and not isinstance(node.right, ast.Constant)]
            if differences and calls & {"max", "maximum", "where", "relu", "clamp"}:
                return str(script), differences[0], scope.name
    return None
