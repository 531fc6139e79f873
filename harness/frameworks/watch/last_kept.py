"""Figures of an evaluation that are made anew for each batch, and read after the loop: only the last is left. Read off a script's text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_TRAINS = ("backward", "step", "apply_gradients", "fit", "train_on_batch", "minimize", "train_step")
_KEEPS = ("append", "extend", "add", "update", "update_state", "write", "add_batch", "log", "put")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def written(script: Path) -> Place | None:
    """The first such line: `right = (guess == labels).sum()` in a loop over batches, or `counts.update(...)` of a plain dictionary, which
    puts new numbers in the place of the old ones."""
    tree = parsed.tree(str(script))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}
    lines = [line for scope in (tree, *functions.values()) for loop in _loops(scope)
             for line in (*_kept(scope, loop, functions), *_late(scope, loop))]
    return (str(script), min(lines), "") if lines else None


def _loops(scope: ast.AST) -> Iterator[ast.For]:
    """Loops in which nothing is trained."""
    for node in parsed.within(scope):
        if isinstance(node, ast.For) and not any(isinstance(call, ast.Call) and name_of(call.func) in _TRAINS for call in ast.walk(node)):
            yield node


def _kept(scope: ast.AST, loop: ast.For, functions: dict[str, Function]) -> Iterator[int]:
    after = {node.id for node in parsed.within(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
             and node.lineno > (loop.end_lineno or loop.lineno)}
    dictionaries = _dictionaries(scope)
    given = _of_batch(loop)
    read = [node.id for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)]
    for statement in loop.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(target := statement.targets[0], ast.Name):
            counts = target.id in after and target.id not in read and _compares(statement.value) and given & parsed.names(statement.value)
            if counts and not _added_up(loop, target.id):
                yield statement.lineno
        elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call) and name_of(call.func) == "update":
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            if isinstance(owner, ast.Name) and owner.id in dictionaries & after and read.count(owner.id) == 1 and len(
                    call.args) == 1 and _same_keys(call.args[0], functions):
                yield statement.lineno


def _late(scope: ast.AST, loop: ast.For) -> Iterator[int]:
    """Where answers and labels of a batch are compared after the loop, in which nothing is kept."""
    if any(isinstance(node, ast.AugAssign | ast.Yield | ast.Break | ast.Return) or (
            isinstance(node, ast.Call) and name_of(node.func) in _KEEPS) for node in ast.walk(loop)):
        return
    later = {id(part) for node in parsed.within(scope) if any(isinstance(part, ast.Lambda) for part in ast.walk(node))
             for part in ast.walk(node)}
    end, given = loop.end_lineno or loop.lineno, _of_batch(loop)
    bound = [node for node in parsed.within(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in given]
    for node in parsed.within(scope):
        if isinstance(node, ast.expr) and id(node) not in later and node.lineno > end and _compares(node):
            sides = next([part.left, *part.comparators] for part in ast.walk(node) if isinstance(part, ast.Compare))
            names = [parsed.names(side) & given for side in sides]
            if all(names) and not any(one.id in set.union(*names) and one.lineno > end for one in bound):
                yield node.lineno
                return


def _of_batch(loop: ast.For) -> set[str]:
    """Names in a loop that are made of what it goes over."""
    known = parsed.names(loop.target)
    for statement in loop.body:
        if isinstance(statement, ast.Assign) and known & parsed.names(statement.value):
            known |= {name for target in statement.targets for name in parsed.names(target)}
    return known


def _compares(value: ast.expr) -> bool:
    """Whether right answers are counted."""
    return any(isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)
               and not any(isinstance(side, ast.Constant) for side in (node.left, *node.comparators)) for node in ast.walk(value)) and any(
        isinstance(node, ast.Call) and name_of(node.func) in ("sum", "mean", "reduce_sum", "reduce_mean", "average") for node in
        ast.walk(value))


def _added_up(loop: ast.For, name: str) -> bool:
    return any(isinstance(node, ast.AugAssign) and name in parsed.names(node.target) for node in ast.walk(loop))


def _dictionaries(scope: ast.AST) -> set[str]:
    """Names that are bound to an empty dictionary, and to nothing else."""
    bound: dict[str, list[ast.expr]] = {}
    for node in parsed.within(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                for name, value in pairs:
                    if isinstance(name, ast.Name):
                        bound.setdefault(name.id, []).append(value)
    return {name for name, values in bound.items() if all(map(_empty, values))}


def _empty(value: ast.expr) -> bool:
    plain = isinstance(value, ast.Dict) and not value.keys
    return plain or (isinstance(value, ast.Call) and name_of(value.func) == "dict" and not value.args and not value.keywords)


def _same_keys(value: ast.expr, functions: dict[str, Function]) -> bool:
    """Whether this is a dictionary of the same keys every time."""
    if isinstance(value, ast.Call) and (own := functions.get(name_of(value.func))) is not None:
        given = [node.value for node in parsed.within(own) if isinstance(node, ast.Return)]
        return bool(given) and all(part is not None and _same_keys(part, {}) for part in given)
    return isinstance(value, ast.Dict) and bool(value.keys) and all(isinstance(key, ast.Constant) for key in value.keys)
