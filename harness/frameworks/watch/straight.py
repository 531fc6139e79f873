"""Straight-through estimates that a script cuts off whole, read off its text at the lines that cut."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

_CUTS = {"stop_gradient", "detach", "detach_"}
# What decides hard, by its name: nothing of a gradient comes through these to what they decide about.
_DECIDES = {"round", "floor", "ceil", "sign", "argmax", "argmin", "embedding", "embedding_lookup", "one_hot", "gather", "index_select",
            "bucketize", "searchsorted", "multinomial"}
_FOLLOWED = 3  # assignments, from one to the next


def cut_whole(places: Iterable[Place | None]) -> Place | None:
    """The first of these places that cuts off a sum in which one and the same part is added and taken away.

    `z + (q - z)` is `q`: nobody writes that but to let the gradient pass through `z`, and only the difference may be cut off for it. Where
    `q` alone is, `z + cut(q) - z`, the gradient is taken away again with the `z` behind it.
    """
    return next((place for place in places if place is not None and _cancels(place[0], place[1])), None)


def turned(places: Iterable[Place | None]) -> Place | None:
    """The first of these places that writes an estimate the wrong way round, `q + cut(z - q)` with the `q` that was decided.

    Its value is `z`, as if nothing had been decided, and its gradient goes to `q`, through which it does not come to `z`.
    """
    return next((place for place in places if place is not None and _turns(place[0], place[1])), None)


def _scopes(file: str, line: int) -> list[ast.AST]:
    return [node for node in ast.walk(parsed.tree(file)) if isinstance(node, ast.FunctionDef | ast.Module)
            and (isinstance(node, ast.Module) or node.lineno <= line <= (node.end_lineno or line))]


@functools.lru_cache(maxsize=256)
def _turns(file: str, line: int) -> bool:
    scopes = _scopes(file, line)
    for node in ast.walk(scopes[-1]) if scopes else ():
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and node.lineno <= line <= (node.end_lineno or line)):
            continue
        for kept, other in ((node.left, node.right), (node.right, node.left)):
            cut = _cut(other)
            if not (isinstance(cut, ast.BinOp) and isinstance(cut.op, ast.Sub) and ast.dump(cut.right) == ast.dump(kept)):
                continue
            if _decided(scopes[-1], kept, line, _FOLLOWED) and not _decided(scopes[-1], cut.left, line, _FOLLOWED):
                return True
    return False


def _decided(scope: ast.AST, value: ast.expr, line: int, follow: int) -> bool:
    """Whether a hard decision stands behind an expression, as far as the names in it are followed."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _DECIDES:
            return True
        given = _given(scope, node.id, line) if isinstance(node, ast.Name) and follow else None
        if given is not None and given.lineno < line and _decided(scope, given, given.lineno, follow - 1):
            return True
    return False


@functools.lru_cache(maxsize=256)
def _cancels(file: str, line: int) -> bool:
    scopes = _scopes(file, line)
    for node in ast.walk(scopes[-1]) if scopes else ():
        here = getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", 0) or 0)
        value = _cut(node) if here else None
        if isinstance(value, ast.Name):
            value = _given(scopes[-1], value.id, line)
        terms = list(_terms(value, 1)) if value is not None else []
        beside = list(_terms(node, 1)) if here and isinstance(node, ast.BinOp) and _holds_cut(node) else []
        if any((-sign, part) in found for found in (terms, beside) for sign, part in found):
            return True
    return False


def _holds_cut(value: ast.expr) -> bool:
    """Whether one of the parts of a sum is cut off."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub):
        return _holds_cut(value.left) or _holds_cut(value.right)
    return isinstance(value, ast.Call) and _cut(value) is not None


def _cut(node: ast.AST) -> ast.expr | None:
    """What an expression cuts off."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return node.value
    if not isinstance(node, ast.Call):
        return None
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name not in _CUTS:
        return None
    return node.args[0] if node.args else getattr(node.func, "value", None)


def _given(scope: ast.AST, name: str, line: int) -> ast.expr | None:
    """What a variable was given last before a line."""
    made = [node for node in ast.walk(scope) if isinstance(node, ast.Assign) and node.lineno < line
            and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)]
    return max(made, key=lambda node: node.lineno).value if made else None


def _terms(value: ast.expr, sign: int) -> Iterator[tuple[int, str]]:
    """The parts of a sum with their signs; numbers are none."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub):
        yield from _terms(value.left, sign)
        yield from _terms(value.right, sign if isinstance(value.op, ast.Add) else -sign)
    elif isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        yield from _terms(value.operand, -sign)
    elif not isinstance(value, ast.Constant):
        yield sign, ast.dump(value)
