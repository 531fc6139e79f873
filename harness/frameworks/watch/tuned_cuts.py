"""Thresholds that are chosen on held-out rows and then judged by the same ones: read off a script's text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_JUDGING = re.compile(r"(^|_)(te|test|tst|held|holdout|later|unseen|final|future)\d*(_|$)")
_CURVES = {"roc_curve": 2, "precision_recall_curve": 2}
_SHOWN = ("print", "format", "round", "float", "str", "item", "info", "log", "write", "append", "len", "argmax", "max")

Scope = ast.Module | ast.FunctionDef


@dataclass
class _Choice:
    """`scores`: what is cut, as it is written; `beside`: the other names in that call; `picked`: names of what was chosen."""

    line: int
    scores: str
    beside: set[str]
    picked: set[str] = field(default_factory=set)


def written(script: Path) -> Place | None:
    """The line on which a threshold is tried against rows whose name says that they judge, where what was chosen cuts no others."""
    tree = parsed.tree(str(script))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    scopes: list[Scope] = [tree, *functions]
    for scope in scopes:
        for choice in _choices(scope):
            if isinstance(scope, ast.FunctionDef) and _given(scope) & (choice.beside | _roots(choice.scores)):
                line = _called_with(tree, scope)
            else:
                judging = any(_JUDGING.search(name) for name in _roots(choice.scores) | choice.beside)
                line = choice.line if judging and not _cuts_others(scope, choice) else None
            if line is not None:
                return str(script), line, getattr(scope, "name", "<module>")
    return None


def _choices(scope: Scope) -> Iterator[_Choice]:
    nodes = list(parsed.within(scope))
    for node in nodes:
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and not _counts(node.iter):
            choice = _tried(node.body, node.target.id)
            if choice is not None:
                choice.picked = {name for part in node.body for name in _kept(part, node.target.id)}
                yield choice
        elif isinstance(node, ast.Assign):
            yield from _at_once(node, nodes)


def _counts(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and name_of(value.func) == "range"


def _at_once(node: ast.Assign, nodes: list[ast.AST]) -> Iterator[_Choice]:
    """`best = max(cuts, key=lambda cut: ...)`, `values = [... for cut in cuts]` and then `cuts[argmax(values)]`, and curves."""
    value, targets = node.value, [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    curve = value if isinstance(value, ast.Call) and name_of(value.func) in _CURVES and len(value.args) > 1 else None
    if curve is not None and len(targets) > _CURVES[name_of(curve.func)]:
        choice = _Choice(node.lineno, ast.unparse(curve.args[1]), parsed.names(curve.args[0]))
        choice.picked = _best_of(nodes, set(targets))
        yield choice
        return
    for part in ast.walk(value):
        if isinstance(part, ast.Lambda) and len(part.args.args) == 1:
            choice_, whole = _tried([part.body], part.args.args[0].arg), True
        elif isinstance(part, ast.ListComp | ast.GeneratorExp | ast.DictComp) and isinstance(part.generators[0].target, ast.Name):
            made = [part.key, part.value] if isinstance(part, ast.DictComp) else [part.elt]
            choice_, whole = _tried(made, part.generators[0].target.id), any(
                isinstance(call, ast.Call) and name_of(call.func) == "max" and part in ast.walk(call) for call in ast.walk(value))
        else:
            continue
        if choice_ is not None:
            choice_.picked = set(targets) if whole else _best_of(nodes, set(targets))
            yield choice_


def _tried(body: list[ast.stmt] | list[ast.expr], cut: str) -> _Choice | None:
    """What a loop cuts at its variable: `scores >= cut`."""
    found = [(node.lineno, node.left) for part in body for node in ast.walk(part)
             if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.GtE)
             and isinstance(node.comparators[0], ast.Name) and node.comparators[0].id == cut and parsed.names(node.left) - {cut}]
    texts = {ast.unparse(scores) for _, scores in found}
    if len(texts) != 1:
        return None
    line, scores = found[0]
    beside = {name for part in body for call in ast.walk(part) if isinstance(call, ast.Call) for arg in call.args
              for name in parsed.names(arg)} - {cut}
    return _Choice(line, ast.unparse(scores), beside)


def _kept(part: ast.AST, cut: str) -> Iterator[str]:
    """Names that a loop keeps its variable by, where some condition holds."""
    for condition in ast.walk(part):
        if isinstance(condition, ast.If):
            for node in ast.walk(condition):
                if isinstance(node, ast.Assign) and cut in parsed.names(node.value):
                    yield from (name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))


def _best_of(nodes: list[ast.AST], values: set[str]) -> set[str]:
    """Names of what stands where the largest of these values stands."""
    best = {name: node.value for node in nodes if isinstance(node, ast.Assign) for target in node.targets
            for name in parsed.names(target) if any(isinstance(call, ast.Call) and name_of(call.func) in ("argmax", "nanargmax", "max")
                                                    for call in ast.walk(node.value)) and parsed.names(node.value) & values}
    # Where the place of the best one has a name of its own, what is taken at that place.
    further = {name for node in nodes if isinstance(node, ast.Assign) and any(
        isinstance(part, ast.Subscript) and parsed.names(part.slice) & set(best) for part in ast.walk(node.value))
        for target in node.targets for name in parsed.names(target)}
    return set(best) | further


def _cuts_others(scope: ast.AST, choice: _Choice) -> bool:
    """Whether what was chosen cuts anything else, or is handed to anybody who may cut with it. Where nothing was kept, nothing is known."""
    if not choice.picked:
        return True
    own = _roots(choice.scores) | choice.beside
    for node in ast.walk(scope):
        if (isinstance(node, ast.Compare) and any(parsed.names(side) & choice.picked for side in node.comparators)
                and ast.unparse(node.left) != choice.scores and parsed.names(node.left) - choice.picked
                and not _from(scope, node.left, choice)):
            return True
    return _handed(scope, choice.picked, own)


def _from(scope: ast.AST, value: ast.expr, choice: _Choice) -> bool:
    """Whether what is compared are the values that the choice is made by, `value > best` within its loop: numbers of no rows."""
    lines = [node for node in ast.walk(scope) if isinstance(node, ast.For) and node.lineno <= choice.line <= (node.end_lineno or 0)]
    return any(value in ast.walk(loop) for loop in lines)


def _called_with(tree: ast.Module, function: ast.FunctionDef) -> int | None:
    """The line of the only call of a function that chooses, where it is given rows that judge and what it returns cuts no others."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
             and name_of(node.value.func) == function.name]
    if len(calls) != 1 or not isinstance(calls[0].value, ast.Call):
        return None
    given = [*calls[0].value.args, *(word.value for word in calls[0].value.keywords)]
    names = {name for arg in given for name in parsed.names(arg)}
    if not any(_JUDGING.search(name) for name in names):
        return None
    kept = {part.id for target in calls[0].targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    scope = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and calls[0] in parsed.within(node)), tree)
    texts = {ast.unparse(arg) for arg in given}
    others = any(isinstance(node, ast.Compare) and any(parsed.names(side) & kept for side in node.comparators)
                 and ast.unparse(node.left) not in texts for node in ast.walk(scope))
    return None if others or _handed(scope, kept, names) else calls[0].lineno


def _handed(scope: ast.AST, picked: set[str], own: set[str]) -> bool:
    """Whether what was chosen is an argument beside others than the choice was made of."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and name_of(node.func) not in _SHOWN:
            given = [*node.args, *(word.value for word in node.keywords)]
            if any(isinstance(arg, ast.Name) and arg.id in picked for arg in given) and {
                    name for arg in given for name in parsed.names(arg)} - picked - own:
                return True
    return False


def _given(function: ast.FunctionDef) -> set[str]:
    return {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}


def _roots(text: str) -> set[str]:
    return parsed.names(ast.parse(text, mode="eval").body)
