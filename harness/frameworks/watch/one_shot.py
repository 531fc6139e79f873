"""Iterators that give their rows once, read in every epoch: the text of a script tells."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

_MAKERS = {"zip", "map", "filter", "iter", "enumerate"}
_LEARNS = ("backward", "step", "apply_gradients", "train_step", "train_on_batch", "fit_batch")
_PARTS = ("parameters", "named_parameters", "modules", "named_modules", "children", "named_children")  # of a model, as generators
_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


def used_up(script: Path) -> Place | None:
    """Where such an iterator is made, outside of a loop in which another one reads all of it and learns from it."""
    tree = parsed.tree(str(script))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    once = _MAKERS | {node.name for node in functions if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in parsed.within(node))}
    for scope in (tree, *functions):
        if not isinstance(scope, _Scope):
            continue
        made = _made(scope, once)
        for outer in (node for node in parsed.within(scope) if isinstance(node, ast.For | ast.While)):
            for inner in (node for part in outer.body for node in ast.walk(part) if isinstance(node, ast.For)):
                name = inner.iter.id if isinstance(inner.iter, ast.Name) else ""
                if name in made and not outer.lineno <= made[name] <= (outer.end_lineno or 0) and _learns(inner):
                    return str(script), made[name], getattr(scope, "name", "<module>")
    return None


def exhausted(script: Path) -> Place | None:
    """Where a name is given to the parameters of a model, as the generator that they are, which is gone through more than once."""
    tree = parsed.tree(str(script))
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))):
        nodes = list(parsed.within(scope))
        read = [node.iter.id for node in nodes if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name)]
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and read.count(node.targets[0].id) > 1 and isinstance(
                    node.value, ast.Call) and getattr(node.value.func, "attr", "") in _PARTS:
                return str(script), node.lineno, getattr(scope, "name", "<module>")
    return None


def kept(script: Path) -> Place | None:
    """Where an object first keeps such an iterator, or an open file: `self.rows = map(parse, lines)`."""
    found = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Assign)
             and isinstance(node.targets[0], ast.Attribute) and _is_one(node.value, _MAKERS | {"open"})]
    return (str(script), min(found), "<module>") if found else None


def _made(scope: _Scope, once: set[str]) -> dict[str, int]:
    """The line of each variable of a scope that is set once in it, to an iterator."""
    lines: dict[str, list[int]] = {}
    iterators: set[str] = set()
    for node in parsed.within(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines.setdefault(node.id, []).append(node.lineno)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and _is_one(node.value, once):
            iterators.add(node.targets[0].id)
    return {name: lines[name][0] for name in iterators if len(lines[name]) == 1}


def _is_one(value: ast.expr, once: set[str]) -> bool:
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(value, ast.GeneratorExp) or (isinstance(called, ast.Name) and called.id in once)


def _learns(loop: ast.For) -> bool:
    """Whether a loop reads to the end, and takes steps."""
    inside = [node for part in loop.body for node in ast.walk(part)]
    called = {getattr(node.func, "attr", getattr(node.func, "id", "")) for node in inside if isinstance(node, ast.Call)}
    return not any(isinstance(node, ast.Break | ast.Return) for node in inside) and bool(called & set(_LEARNS))
