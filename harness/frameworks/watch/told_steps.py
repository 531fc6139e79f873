"""Samplers that take the noise of one step and tell the model another: read off a script's text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_FILLING = ("full", "fill", "full_like", "ones", "ones_like", "constant", "tensor", "as_tensor", "array", "asarray", "convert_to_tensor",
            "repeat", "broadcast_to", "int", "float", "long", "int32", "int64", "float32", "cast", "expand", "to")


def written(script: Path) -> Place | None:
    """The first line that tells a model the number of a loop, which is a place in a table of steps: the levels of noise are read at the
    step that stands there. `levels[grid[k]]`, or `levels[k]` of `levels = table[grid]`, beside `model(x, full(k))`."""
    tree = parsed.tree(str(script))
    for scope in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Module)):
        nodes = list(parsed.within(scope))
        taken = {target.id: node.value.slice.id for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)
                 and isinstance(node.value.slice, ast.Name) for target in node.targets if isinstance(target, ast.Name)}
        for loop in (node for node in nodes if isinstance(node, ast.For) and isinstance(node.target, ast.Name)):
            number = loop.target.id if isinstance(loop.target, ast.Name) else ""
            if _falls(loop.iter) and _by_table(loop, number, taken) and not _told_step(loop, number):
                lines = list(_told(loop, number))
                if lines:
                    return str(script), min(lines), getattr(scope, "name", "<module>")
    return None


def _falls(value: ast.expr) -> bool:
    """`reversed(range(n))`, or a `range` with a step of its own."""
    if not isinstance(value, ast.Call):
        return False
    inner = value.args[0] if value.args else None
    return (name_of(value.func) == "reversed" and isinstance(inner, ast.Call) and name_of(inner.func) == "range") or (
        name_of(value.func) == "range" and len(value.args) == 3)


def _by_table(loop: ast.For, number: str, taken: dict[str, str]) -> bool:
    """Whether what stands at a place of a table of steps is itself the place that something is read at."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Subscript) and _is(node.slice.slice, number):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in taken and _is(node.slice, number):
            return True
    return False


def _told_step(loop: ast.For, number: str) -> bool:
    """Whether the step itself is told: `grid[k]` goes into a call, or has a name of its own."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and any(isinstance(part, ast.Subscript) and _is(part.slice, number) and _bare(node, part)
                                              for part in ast.walk(node)):
            return True
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and _is(node.value.slice, number) and any(
                isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name) and part.slice.id in parsed.names(node.targets[0])
                for part in ast.walk(loop)):
            return True
    return False


def _bare(call: ast.Call, part: ast.Subscript) -> bool:
    """Whether a call gets `grid[k]` for the time, filled up or converted, and nothing that is read there."""
    return name_of(call.func) in _FILLING and any(part is inner for arg in call.args for inner in _unwrapped(arg))


def _unwrapped(arg: ast.expr) -> Iterator[ast.expr]:
    while isinstance(arg, ast.Call) and name_of(arg.func) in _FILLING and (arg.args or isinstance(arg.func, ast.Attribute)):
        arg = arg.args[-1] if arg.args else arg.func.value if isinstance(arg.func, ast.Attribute) else arg
    yield arg


def _told(loop: ast.For, number: str) -> Iterator[int]:
    """Lines on which the number of the loop itself is filled up to one for each row."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and name_of(node.func) in ("full", "fill", "full_like") and any(
                _is(inner, number) for arg in node.args for inner in _unwrapped(arg)):
            yield node.lineno
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and any(_is(side, number) for side in (node.left, node.right)):
            other = node.right if _is(node.left, number) else node.left
            if isinstance(other, ast.Call) and name_of(other.func) in ("ones", "ones_like"):
                yield node.lineno


def _is(node: ast.expr, number: str) -> bool:
    return isinstance(node, ast.Name) and node.id == number
