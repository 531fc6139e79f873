"""Whether a script tries several values of something, one after the other: where a call's argument comes from in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import parsed

_RATES = ("lr", "learning_rate")
_SUGGESTS = ("suggest_", "Float", "Choice")  # of Optuna's trials and Keras Tuner's parameters

_WITHIN = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)

Function = ast.FunctionDef | ast.Lambda


def note(seen: Observation) -> None:
    """Whether the rate that is trained with is one of several."""
    if seen.optimizer is not None:
        behind = 1 if seen.framework == "torch" else 0  # the weights
        seen.optimizer.tried = tried(seen.optimizer.site, behind) or tried(seen.sites.get("training_arguments"), behind)


def tried(place: Site | None, behind: int) -> bool:
    """Whether the rate that is given in a call on a line, as a keyword or `behind` so many arguments, is bound by a loop, or suggested by a
    search. Lines of notebooks are not read."""
    if place is None or place.cell is not None:
        return False
    text = _Text(parsed.tree(place.file))
    calls = [call for call in text.calls if call.lineno <= place.line <= (call.end_lineno or 0)]
    words = [word.value for call in calls for word in call.keywords if word.arg in _RATES]
    others = [value for call in calls for value in (*call.args[behind:behind + 1],
                                                    *(word.value for word in call.keywords if word.arg is None))]
    return any(text.varies(value) for value in words or others)


class _Text:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.calls: list[ast.Call] = []
        self._inside: dict[int, list[ast.AST]] = {}  # what a node stands in, the innermost last
        self._followed: set[tuple[str, int]] = set()  # names, each within what binds it: once is enough
        self._enter(self.tree, [])

    def _enter(self, node: ast.AST, around: list[ast.AST]) -> None:
        self._inside[id(node)] = around
        if isinstance(node, ast.Call):
            self.calls.append(node)
        for child in ast.iter_child_nodes(node):
            self._enter(child, [*around, node])

    def varies(self, value: ast.expr) -> bool:
        """Whether anything that a value is made of is bound by a loop around it, followed through names, parameters and attributes."""
        own = {name for loop in ast.walk(value) if isinstance(loop, _WITHIN) for name in _bound(loop)}  # counts within what is given once
        for part in ast.walk(value):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr.startswith(_SUGGESTS):
                return True
            if isinstance(part, ast.Name) and part.id not in own and self._name(part):
                return True
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self" and self._new(
                    f"self.{part.attr}", self.tree) and any(map(self.varies, self._assigned(f"self.{part.attr}", self.tree))):
                return True
        return False

    def _new(self, name: str, within: ast.AST) -> bool:
        known = (name, id(within)) in self._followed
        self._followed.add((name, id(within)))
        return not known

    def _name(self, name: ast.Name) -> bool:
        around = self._inside[id(name)]
        loops = [node for node in around if isinstance(node, (ast.For, *_WITHIN))]
        if any(name.id == bound for loop in loops for bound in _bound(loop)):
            return True
        function = next((node for node in reversed(around) if isinstance(node, Function)), None)
        here = function if function is not None else self.tree
        if not self._new(name.id, here):
            return False
        if function is not None and name.id in _parameters(function):
            return any(map(self.varies, self._given(function, name.id, around)))
        return any(map(self.varies, self._assigned(name.id, here)))

    def _assigned(self, name: str, within: ast.AST) -> Iterator[ast.expr]:
        for node in ast.walk(within):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(ast.unparse(target) == name for target in targets):
                    yield node.value

    def _given(self, function: Function, name: str, around: list[ast.AST]) -> Iterator[ast.expr]:
        """What the calls of a function give for one of its parameters."""
        owner = next((node for node in reversed(around) if isinstance(node, ast.ClassDef)), None)
        own = getattr(function, "name", "")
        called = owner.name if owner is not None and own == "__init__" else own
        place = _parameters(function).index(name) - (owner is not None)
        for call in self.calls:
            if not called or getattr(call.func, "id", getattr(call.func, "attr", None)) != called:
                continue
            yield from (word.value for word in call.keywords if word.arg == name)
            if 0 <= place < len(call.args):
                yield call.args[place]


def _bound(loop: ast.AST) -> list[str]:
    targets = [loop.target] if isinstance(loop, ast.For) else [each.target for each in getattr(loop, "generators", [])]
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _parameters(function: Function) -> list[str]:
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
