"""Targets of values, reward + discount * best value of the next state: is the best one that of the whole batch?

What is written decides: a `max` that is told no axis, of what a model has answered or of a name that stands for it, in a product that is
added to a name. What that name holds when a gradient is taken decides whether there are several rows.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.checks.loss_facts import WholeBestFacts
from harness.checks.observation import Observation
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Sites, names_of, site

_BEST = {"max", "amax", "reduce_max"}
_AXES = {"dim", "axis", "keepdim", "keepdims", "keep_dims"}
_LEAST = 2


def note(seen: Observation, sites: Sites, array: Callable[[Any], np.ndarray[Any, Any] | None]) -> None:
    """A gradient is about to be taken of a loss. `array`: numbers of a tensor, None of what is none."""
    if seen.whole_best is not None or not seen.steps:
        return
    for frame in sites.frames():
        code = frame.f_code
        for reward, answers, line in _of(code.co_filename).get(code.co_name, ()):
            names = names_of(frame)
            rows, given = array(names.get(reward)), array(names.get(answers)) if answers else None
            if rows is None or rows.ndim == 0 or len(rows) < _LEAST or (given is not None and given.ndim < 2):
                continue
            seen.whole_best = WholeBestFacts(rows=len(rows), reward=reward, site=site((code.co_filename, line, code.co_name)))
            return


@functools.lru_cache(maxsize=64)
def _of(file: str) -> dict[str, list[tuple[str, str, int]]]:
    """By function: the name that is added to, the name of the answers if they have one, and the line of the `max`."""
    found: dict[str, list[tuple[str, str, int]]] = {}
    tree = parsed.tree(file)
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))):
        nodes = list(parsed.within(scope))
        made = {target.id: node.value for node in nodes if isinstance(node, ast.Assign) for target in node.targets
                if isinstance(target, ast.Name)}
        sums = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)]
        sides = [(one.id, other) for node in sums for one, other in ((node.left, node.right), (node.right, node.left))
                 if isinstance(one, ast.Name) and isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult)]
        for reward, product in sides:
            for part in _factors(product):
                best = _best(made.get(part.id, part) if isinstance(part, ast.Name) else part, made)
                if best is not None:
                    found.setdefault(getattr(scope, "name", "<module>"), []).append((reward, *best))
    return found


def _factors(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _best(node: ast.AST, made: dict[str, ast.expr]) -> tuple[str, int] | None:
    """The name of what a `max` without an axis is taken of, empty where it is a call's answer, and its line."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"detach", "float", "item"}:
        node = node.func.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _BEST:
        return None
    if any(word.arg in _AXES for word in node.keywords):
        return None
    library = isinstance(node.func.value, ast.Name) and node.func.value.id in {"torch", "tf", "np", "ops", "K"}
    library = library or ast.unparse(node.func.value) in {"tf.math", "keras.ops", "keras.backend"}
    given = node.args[0] if library and node.args else node.func.value
    if len(node.args) > library:
        return None
    name = given.id if isinstance(given, ast.Name) else ""
    source = made.get(name, given)
    return (name, node.lineno) if isinstance(source, ast.Call) else None
