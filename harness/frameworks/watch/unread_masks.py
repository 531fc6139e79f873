"""Layers of a script's own that get a mask, or the lengths of rows, and pool the steps of a row without them: read off its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from harness.frameworks.watch import dilution, parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_CALLED = ("forward", "call", "__call__")
_OF_STEPS = re.compile(r"(^|_)(masks?|lens?|lengths?|valid)(_|$)", re.IGNORECASE)
_LAST = ("-1",)
_SUMS, _REAL = ("sum", "einsum", "reduce_sum"), ("present", "keep", "kept", "real", "there", "filled", "used")


def written(script: Path) -> Place | None:
    """The first line on which such a layer pools: it never reads what it gets, or takes the mean over all steps of what it masked."""
    tree = parsed.tree(str(script))
    functions = [node for owner in ast.walk(tree) if isinstance(owner, ast.ClassDef) for node in owner.body
                 if isinstance(node, ast.FunctionDef) and node.name in _CALLED]
    lines = [line for function in functions for line in (*_unread(function), *_masked(function))]
    lines += [line for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for line in _divided(node)]
    return (str(script), min(lines), "") if lines else None


def _unread(function: ast.FunctionDef) -> Iterator[int]:
    """Where a function pools that is given a mask or lengths, by a parameter without a default or as a part of its input, and never reads
    them."""
    given = function.args.args[1:len(function.args.args) - len(function.args.defaults)]
    names = {argument.arg for argument in given}
    taken = {part.id for node in ast.walk(function) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
             and node.value.id in names for target in node.targets if isinstance(target, ast.Tuple)
             for part in target.elts if isinstance(part, ast.Name)}
    wanted = {name for name in names | taken if _OF_STEPS.search(name)}
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if wanted and not wanted & read:
        yield from (node.lineno for node in ast.walk(function) if isinstance(node, ast.expr) and (dilution.means(node) or _last(node)))


def _masked(function: ast.FunctionDef) -> Iterator[int]:
    """Where a function takes the mean over all steps of what it has multiplied by a mask."""
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _mentions(node.right) for node in ast.walk(function)):
        return
    products = {target.id for node in ast.walk(function) if isinstance(node, ast.Assign) and _times_mask(node.value)
                for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and dilution.means(node):
            pooled = [node.func.value] if isinstance(node.func, ast.Attribute) and name_of(node.func) == "mean" else []
            pooled += node.args[:1]
            if any(_times_mask(part) or (isinstance(part, ast.Name) and part.id in products) for part in pooled):
                yield node.lineno


def _divided(function: ast.FunctionDef) -> Iterator[int]:
    """Where a sum of what a mask has left over is divided by how many steps there are: `einsum("btd,bt->bd", h, mask) / mask.size(1)`."""
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _all_steps(node.right) and any(
                isinstance(part, ast.Call) and name_of(part.func) in _SUMS and _names_mask(part) for part in ast.walk(node.left)):
            yield node.lineno


def _all_steps(node: ast.expr) -> bool:
    """`mask.size(1)` or `mask.shape[1]`."""
    if isinstance(node, ast.Call):
        return name_of(node.func) == "size" and len(node.args) == 1 and ast.unparse(node.args[0]) == "1"
    return (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
            and ast.unparse(node.slice) == "1")


def _names_mask(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and (_OF_STEPS.search(part.id) or part.id in _REAL) for part in ast.walk(node))


def _times_mask(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and (_mentions(node.left) or _mentions(node.right))


def _mentions(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and _OF_STEPS.search(part.id) for part in ast.walk(node))


def _last(node: ast.AST) -> bool:
    """`states[:, -1]`, and with further axes."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or not isinstance(node.ctx, ast.Load):
        return False
    first, second = node.slice.elts[0], ast.unparse(node.slice.elts[1])
    return isinstance(first, ast.Slice) and ast.unparse(first) == ":" and second in _LAST
