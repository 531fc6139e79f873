"""Trackers of a script's own that can be set back and never are: read off its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.checks.training_facts import RunningFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_Loop = ast.For | ast.While
_EVALUATES = re.compile(r"no_grad|inference_mode|\.eval\(\)|training=False|def \w*(eval|valid|test|score)")
_EMPTIES = ("zero_", "fill_", "clear", "fill", "assign")


def find(session: WatchSession) -> RunningFacts | None:
    """An object of a class that adds up in one method and begins anew in another, which is made once, told of batches in something that a
    loop runs again and again, and never set back."""
    tree = parsed.tree(str(session.script))
    for made in ast.walk(tree):
        if isinstance(made, ast.ClassDef) and not made.bases:
            for adds, resets in _pairs(made):
                found = _updated(tree, made, adds, resets)
                if found is not None:
                    name, line, function = found
                    return RunningFacts(names=[name], resets=resets, site=site((str(session.script), line, function)))
    return None


def _pairs(made: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Methods that add to an attribute of the object, with those that give all such attributes a new value and need no argument."""
    methods = [part for part in made.body if isinstance(part, ast.FunctionDef)]
    for adds in methods:
        added = {ast.unparse(node.target).partition("[")[0] for node in ast.walk(adds) if isinstance(node, ast.AugAssign)
                 and isinstance(node.op, ast.Add) and ast.unparse(node.target).startswith("self.")}
        for resets in methods:
            if added and not resets.name.startswith("__") and len(resets.args.args) == 1 and added <= set(_set_back(resets)):
                yield adds.name, resets.name


def _set_back(method: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(method):
        if isinstance(node, ast.Assign):
            yield from (ast.unparse(part).partition("[")[0] for target in node.targets
                        for part in (target.elts if isinstance(target, ast.Tuple) else [target]))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _EMPTIES:
            yield ast.unparse(node.func.value)


def _updated(tree: ast.Module, made: ast.ClassDef, adds: str, resets: str) -> tuple[str, int, str] | None:
    """The name, line and function of the only place that tells such an object of batches, where that runs once an epoch and the object was
    made before."""
    outside = [node for part in tree.body if part is not made for node in ast.walk(part)]
    names = {ast.unparse(target) for node in outside if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
             and ast.unparse(node.value.func) == made.name for target in node.targets}
    if len(names) != 1:
        return None
    name = names.pop()
    calls = [node for node in outside if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    bare = name.rpartition(".")[2]
    updates = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == adds
               and ast.unparse(call.func.value).rpartition(".")[2] == bare]
    # Handed on, it may be set back where that is not seen.
    if len(updates) != 1 or any(ast.unparse(call.func).endswith("." + resets) for call in calls) or _handed_on(outside, name):
        return None
    return _again(tree, made.name, name, updates[0])


def _handed_on(nodes: list[ast.AST], name: str) -> bool:
    return any(ast.unparse(value) == name for node in nodes if isinstance(node, ast.Call)
               for value in (*node.args, *(word.value for word in node.keywords)))


def _again(tree: ast.Module, kind: str, name: str, update: ast.Call) -> tuple[str, int, str] | None:
    """Whether a loop over batches with the update runs inside another loop, which does not make the object."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    loops, function = _around(update, parents)
    if not loops or not _EVALUATES.search(ast.unparse(function or loops[-1])):
        return None
    if len(loops) > 1:
        return None if _makes(loops[-1], kind) else (name, update.lineno, function.name if function else "<module>")
    if function is None:
        return None
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == function.name]
    repeated = [outer for call in called for outer in _around(call, parents)[0]]
    if not repeated or _makes(function, kind) or any(_makes(outer, kind) for outer in repeated):
        return None
    return name, update.lineno, function.name


def _around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> tuple[list[ast.AST], ast.FunctionDef | None]:
    """The loops around a node, the innermost first, and the function that they are in."""
    loops: list[ast.AST] = []
    inner: ast.AST | None = node
    while inner is not None and not isinstance(inner, ast.FunctionDef):
        loops += [inner] if isinstance(inner, _Loop) else []
        inner = parents.get(inner)
    return loops, inner


def _makes(scope: ast.AST, kind: str) -> bool:
    return any(isinstance(node, ast.Call) and ast.unparse(node.func) == kind for node in ast.walk(scope))
