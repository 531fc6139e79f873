"""Steps of an agent that come as one thing, `batch.reward` or `batch["reward"]`: which of its parts a function reads."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.frameworks.watch import parsed

_MOST = 16


@dataclass(frozen=True)
class Held:
    """A name whose parts are read one by one: all that a function `read`s, and the `reward`, which a later value is added to on that
    `line`."""

    holder: str
    read: frozenset[str]
    reward: str
    line: int


def fields(value: Any) -> dict[str, Any]:
    """The parts of a named tuple, a dict or an object of data, by name."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        found = dict(zip(value._fields, value, strict=False))
    elif isinstance(value, dict):
        found = {key: part for key, part in value.items() if isinstance(key, str)} if len(value) <= _MOST else {}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    else:
        found = {}
    return found


@functools.lru_cache(maxsize=256)
def of(file: str, name: str, line: int) -> tuple[Held, ...]:
    """Of the function that begins there, or of the module."""
    tree = parsed.tree(file)
    scope = tree if name == "<module>" else parsed.function(tree, name, line)
    return tuple(_held(scope)) if scope is not None else ()


def _held(scope: ast.AST) -> Iterator[Held]:
    nodes = list(ast.walk(scope))
    read: defaultdict[str, set[str]] = defaultdict(set)
    bases: set[int] = set()
    for node in nodes:
        part = _part(node)
        if part is not None and isinstance(node, ast.Attribute | ast.Subscript):
            read[part[0]].add(part[1])
            bases.add(id(node.value))
    # Handed on as a whole, it may be read elsewhere.
    whole = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in bases}
    made = {target.id: node.value for node in nodes if isinstance(node, ast.Assign) for target in node.targets
            if isinstance(target, ast.Name)}
    for term in nodes:
        if not isinstance(term, ast.BinOp) or not isinstance(term.op, ast.Add):
            continue
        for one, other in ((term.left, term.right), (term.right, term.left)):
            reward = _part(one)
            if reward is None or reward[0] in whole or not (isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult)):
                continue
            later = [other, *(made[node.id] for node in ast.walk(other) if isinstance(node, ast.Name) and node.id in made)]
            if any(_answers(value, reward) for value in later):
                yield Held(reward[0], frozenset(read[reward[0]]), reward[1], term.lineno)


def _part(node: ast.AST) -> tuple[str, str] | None:
    """`holder.name` or `holder["name"]`, read."""
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
        key = node.attr if isinstance(node, ast.Attribute) else getattr(node.slice, "value", None)
        return (node.value.id, key) if isinstance(key, str) else None
    return None


def _answers(value: ast.AST, reward: tuple[str, str]) -> bool:
    """Whether something is called with another part of the same."""
    return any(isinstance(call, ast.Call) and any((part := _part(node)) is not None and part[0] == reward[0] and part != reward
                                                  for argument in call.args for node in ast.walk(argument)) for call in ast.walk(value))
