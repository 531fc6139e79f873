"""What a model has given once and an object of the script's keeps, while the model is trained on: read off a script's text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_KEEPS = ("cached_property", "lru_cache", "cache")
_TRAINED = ("parameters", "fit", "compile", "trainable_variables", "trainable_weights")
_STEPS = ("backward", "apply_gradients", "train_on_batch", "fit", "minimize", "apply")
_NO_ANSWER = ("to", "eval", "train", "parameters", "named_parameters", "state_dict", "modules", "get_config", "cpu", "cuda", "get_weights")
# What is held still may be kept, and what is let go of is asked for again.
_FROZEN = re.compile(r"requires_grad\s*=\s*False|requires_grad_\(\s*False|trainable\s*=\s*False")
_LET_GO = re.compile(r"cache_clear|delattr|__dict__")


def written(script: Path) -> Place | None:
    """The line that keeps, once and for all, what a model gave, in a class whose object is made before the training and asked both before
    it, or in each of its rounds, and after."""
    tree = parsed.tree(str(script))
    text = script.read_text(errors="replace") if script.is_file() else ""
    if _FROZEN.search(text) or _LET_GO.search(text):
        return None
    trained = _trained(tree)
    trainers = _trainers(tree)
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for attribute, line in _kept(owner):
            if not _renewed(tree, owner, attribute) and any(_asked_on(scope, owner.name, trained, trainers, _readers(owner, attribute))
                                                            for scope in ast.walk(tree) if isinstance(scope, ast.FunctionDef | ast.Module)):
                return str(script), line, owner.name
    return None


def _trained(tree: ast.Module) -> set[str]:
    """Names of what has its weights trained."""
    return {node.value.id for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in _TRAINED
            and isinstance(node.value, ast.Name)}


def _trainers(tree: ast.Module) -> set[str]:
    """Functions of the script's own in which steps are taken."""
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _steps(node, set())}


def _steps(part: ast.AST, trainers: set[str]) -> bool:
    called = [node.func for node in ast.walk(part) if isinstance(node, ast.Call)]
    return any((isinstance(each, ast.Attribute) and each.attr in _STEPS) or (isinstance(each, ast.Name) and each.id in trainers)
               for each in called)


def _kept(owner: ast.ClassDef) -> Iterator[tuple[str, int]]:
    """What is kept of a model that the object was given, by the name of it, and on which line."""
    models = _given(owner)
    for method in (node for node in owner.body if isinstance(node, ast.FunctionDef)):
        if any(name_of(part.func if isinstance(part, ast.Call) else part) in _KEEPS for part in method.decorator_list):
            if _answers(method, models):
                yield method.name, method.lineno
            continue
        for branch in (node for node in ast.walk(method) if isinstance(node, ast.If)):
            for statement in (node for part in branch.body for node in ast.walk(part) if isinstance(node, ast.Assign)):
                target = statement.targets[0]
                place = target.value if isinstance(target, ast.Subscript) else target
                if isinstance(place, ast.Attribute) and parsed.of_self(place) and _missing(branch.test, place.attr) and _answers(
                        branch, models):
                    yield place.attr, statement.lineno


def _given(owner: ast.ClassDef) -> set[str]:
    """Attributes that are what `__init__` was given, or fields of a dataclass."""
    fields = {node.target.id for node in owner.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    for node in (node for method in owner.body if isinstance(method, ast.FunctionDef) and method.name == "__init__"
                 for node in ast.walk(method) if isinstance(node, ast.Assign)):
        for target in node.targets:
            pairs = zip(target.elts, node.value.elts, strict=False) if isinstance(target, ast.Tuple) and isinstance(
                node.value, ast.Tuple) else [(target, node.value)]
            fields |= {one.attr for one, value in pairs if isinstance(one, ast.Attribute) and parsed.of_self(one)
                       and isinstance(value, ast.Name)}
    return fields


def _answers(part: ast.AST, models: set[str]) -> bool:
    """Whether one of these is called with something: `self.model(rows)`, `self.model.embed(rows)`."""
    for call in (node for node in ast.walk(part) if isinstance(node, ast.Call) and node.args):
        asked = call.func
        while isinstance(asked, ast.Attribute) and not parsed.of_self(asked):
            asked = asked.value
        if isinstance(asked, ast.Attribute) and asked.attr in models and name_of(call.func) not in _NO_ANSWER and (
                asked is not call.func or "model" in asked.attr or "encoder" in asked.attr or "net" in asked.attr):
            return True
    return False


def _missing(test: ast.expr, attribute: str) -> bool:
    """`self.kept is None`, `not hasattr(self, "kept")`, `key not in self.kept`, `not self.kept`."""
    asks = any(isinstance(node, ast.Is | ast.NotIn | ast.Not) for node in ast.walk(test))
    return asks and any((parsed.of_self(node) and isinstance(node, ast.Attribute) and node.attr == attribute)
                        or (isinstance(node, ast.Constant) and node.value == attribute) for node in ast.walk(test))


def _renewed(tree: ast.Module, owner: ast.ClassDef, attribute: str) -> bool:
    """Whether what is kept is set or emptied anywhere but where it is made."""
    made = {id(node) for method in owner.body if isinstance(method, ast.FunctionDef) and method.name == "__init__"
            for node in ast.walk(method)}
    made |= {id(node) for branch in ast.walk(owner) if isinstance(branch, ast.If) and _missing(branch.test, attribute)
             for node in ast.walk(branch)}
    return any(isinstance(node, ast.Attribute) and node.attr == attribute and id(node) not in made
               and isinstance(node.ctx, ast.Store | ast.Del) for node in ast.walk(tree)) or any(
        isinstance(node, ast.Attribute) and node.attr in ("clear", "pop") and isinstance(node.value, ast.Attribute)
        and node.value.attr == attribute for node in ast.walk(tree))


def _readers(owner: ast.ClassDef, attribute: str) -> set[str]:
    """The object's attributes and methods by which one gets at what is kept."""
    methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
    found, before = {attribute}, 0
    while len(found) > before:
        before = len(found)
        found |= {method.name for method in methods if any(isinstance(node, ast.Attribute) and parsed.of_self(node) and node.attr in found
                                                           for node in ast.walk(method))}
    return found - {"__init__"}


def _asked_on(scope: ast.FunctionDef | ast.Module, owner: str, trained: set[str], trainers: set[str], readers: set[str]) -> bool:
    """Whether an object of this class is made in a scope, of a model that is trained, and asked before the training and after; or in a
    loop of it."""
    nodes = list(parsed.within(scope))
    looped = {id(node) for loop in nodes if isinstance(loop, ast.For | ast.While) for node in ast.walk(loop)}
    for made in (node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and id(node) not in looped):
        call, target = made.value, made.targets[0]
        given = {part.id for part in (*call.args, *(word.value for word in call.keywords)) if isinstance(part, ast.Name)} if isinstance(
            call, ast.Call) else set()
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or name_of(call.func) != owner or not given & trained:
            continue
        if sum(isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Store) for node in nodes) > 1:
            continue  # made anew
        asked = [node.lineno for node in nodes if isinstance(node, ast.Attribute) and node.attr in readers
                 and isinstance(node.value, ast.Name) and node.value.id == target.id]
        trains = [node for node in nodes if isinstance(node, ast.For | ast.While | ast.Expr | ast.Assign) and node.lineno > made.lineno
                  and _steps(node, trainers)]
        loops = [node for node in trains if isinstance(node, ast.For | ast.While)]
        inside = any(loop.lineno <= line <= (loop.end_lineno or loop.lineno) for loop in loops for line in asked)
        first = min((node.lineno for node in trains), default=0)
        if inside or (min(asked, default=first) < first < max(asked, default=first)):
            return True
    return False
