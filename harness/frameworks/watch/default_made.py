"""Functions that add to a parameter's default value, which Python makes once: what they count runs on from call to call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.checks.training_facts import RunningFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_LISTS = ("list", "dict", "defaultdict", "Counter", "deque")
_ADDS = ("append", "extend", "update", "add", "setdefault")
_EMPTIES = ("clear", "reset", "reset_state", "reset_states")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def find(session: WatchSession) -> RunningFacts | None:
    """The first function that does so in a loop, and gives back what it makes of it; called in a loop, without that argument."""
    tree = parsed.tree(str(session.script))
    kinds = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    repeated = {name_of(call.func): call for loop in ast.walk(tree) if isinstance(loop, ast.For | ast.While)
                for call in ast.walk(loop) if isinstance(call, ast.Call)}
    for function in (node for node in ast.walk(tree) if isinstance(node, Function)):
        call = repeated.get(function.name)
        for name, number, value in _defaults(function) if call is not None else ():
            handed = call is not None and (len(call.args) > number or any(word.arg in (name, None) for word in call.keywords))
            if not handed and _keeps(value, kinds) and _told(function, name, value, kinds) and _read_later(function, name):
                return RunningFacts(names=[name], default=True, site=site((str(session.script), value.lineno, function.name)))
    return None


def _defaults(function: Function) -> Iterator[tuple[str, int, ast.expr]]:
    """Parameters with a default: name, position, value."""
    given = function.args.args
    first = len(given) - len(function.args.defaults)
    yield from ((argument.arg, first + number, value) for number, (argument, value) in
                enumerate(zip(given[first:], function.args.defaults, strict=True)))
    yield from ((argument.arg, 1 << 16, value) for argument, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
                if value is not None)


def _keeps(value: ast.expr, kinds: dict[str, ast.ClassDef]) -> bool:
    """Whether this is made once and can be added to."""
    if isinstance(value, ast.List | ast.Dict | ast.Set):
        return True
    return isinstance(value, ast.Call) and (name_of(value.func) in _LISTS or name_of(value.func) in kinds)


def _told(function: Function, name: str, value: ast.expr, kinds: dict[str, ast.ClassDef]) -> bool:
    """Whether a loop in the function adds to it, and nothing empties it or puts another in its place."""
    bound = any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in ast.walk(function))
    called = [node for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
              and isinstance(node.func.value, ast.Name) and node.func.value.id == name]
    if bound or any(name_of(call.func) in _EMPTIES for call in called):
        return False
    looped = {id(node) for loop in ast.walk(function) if isinstance(loop, ast.For | ast.While) for node in ast.walk(loop)}
    adding = set(_ADDS) | (_adding(kinds[name_of(value.func)]) if isinstance(value, ast.Call) and name_of(value.func) in kinds else set())
    return any(name_of(call.func) in adding and id(call) in looped for call in called)


def _adding(kind: ast.ClassDef) -> set[str]:
    """Methods of a class that add to what it holds."""
    return {part.name for part in kind.body if isinstance(part, ast.FunctionDef) and any(
        (isinstance(node, ast.AugAssign) and ast.unparse(node.target).startswith("self."))
        or (isinstance(node, ast.Call) and name_of(node.func) in _ADDS and ast.unparse(node.func).startswith("self."))
        for node in ast.walk(part))}


def _read_later(function: Function, name: str) -> bool:
    """Whether what the function gives back is made of it."""
    made = {name}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and made & parsed.names(node.value):
            made |= {name for target in node.targets for name in parsed.names(target)}
    return any(isinstance(node, ast.Return) and node.value is not None
               and made & parsed.names(node.value) for node in ast.walk(function))
