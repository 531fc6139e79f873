"""Datasets whose rows are changed at random by a generator that each row seeds anew, by its own number: each epoch sees the same changes.

Read off the text of the `__getitem__` of a script's own. One that makes its rows up, and keeps none, may well seed them so.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place, Sites

SEEDS = ("default_rng", "RandomState", "Random", "manual_seed", "seed")
_MOVES_ON = re.compile(r"epoch|pass|step|time|count|round|draw|calls?(_|$)|entropy|random|token|urandom", re.IGNORECASE)


def written(getitem: Any, sites: Sites) -> Place | None:
    """Where such a method seeds its generator; None where the seed may move on, or the method reads no rows that are kept."""
    code = getattr(getitem, "__code__", None)
    if code is None or not sites.is_own(code.co_filename):
        return None
    found = parsed.function(parsed.tree(code.co_filename), code.co_name, code.co_firstlineno)
    if found is None or len(found.args.args) < 2:
        return None
    own, number = (argument.arg for argument in found.args.args[:2])
    known = _made_of(found, number)
    if not _changes_kept(found, own, known):
        return None
    for call in ast.walk(found):
        if isinstance(call, ast.Call) and name_of(call.func) in SEEDS and len(call.args) == 1 and not call.keywords:
            seed = call.args[0]
            named = [part.id if isinstance(part, ast.Name) else part.attr for part in ast.walk(seed)
                     if isinstance(part, ast.Name | ast.Attribute)]
            if known & set(named) and not any(_MOVES_ON.search(name) for name in named) and not any(
                    isinstance(part, ast.Call) and name_of(part.func) not in ("int", "hash", "str") for part in ast.walk(seed)):
                return code.co_filename, call.lineno, code.co_qualname
    return None


def _made_of(function: ast.AST, number: str) -> set[str]:
    """The row's number, and names that are bound to what is made of it alone."""
    known = {number}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and known & parsed.names(node.value):
            known |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return known


def _changes_kept(function: ast.AST, own: str, known: set[str]) -> bool:
    """Whether the first thing that is given back is made of what the dataset keeps for the row, and of other things than what follows it,
    the label, is made of: a row that is drawn for its label is made up."""
    made: dict[str, set[str]] = {}

    def of(value: ast.AST | None) -> set[str]:
        parts = list(ast.walk(value)) if value is not None else []
        found = {name for part in parts if (name := _kept(part, own, known))}
        return found.union(*(made.get(part.id, set()) for part in parts if isinstance(part, ast.Name)))

    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)):
                made[name] = made.get(name, set()) | of(node.value)
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else node.value.values if isinstance(node.value, ast.Dict) else [
                node.value]
            if of(parts[0]) - set[str]().union(*map(of, parts[1:])):
                return True
    return False


def _kept(node: ast.AST, own: str, known: set[str]) -> str:
    """The attribute that this reads by the row's number, of what the dataset keeps; "" where it is nothing of the kind."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
        return ""
    of_own = isinstance(node.value.value, ast.Name) and node.value.value.id == own
    return node.value.attr if of_own and known & parsed.names(node.slice) else ""
