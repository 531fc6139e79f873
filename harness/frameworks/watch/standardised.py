"""Rows of an evaluation that were standardised by their own mean and deviation: by figures, and by what the script says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import StandardisedFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place, site

_ROWS, _COLUMNS, _LARGEST, _PASSES = 20, 2, 1 << 24, 8
_SHORT = 60  # nodes of a function that does little else
_SPAN, _TABLES = 2.1, 4  # more of these are many parts, each by itself
_KNOWN, _ASKED = 20_000, 512  # rows of the training, and of an evaluation, that are kept by their hashes
_MEAN, _STD = 1e-4, 2e-3  # how far off: rounding in float32; one row more or less to divide by, and what guards against a division by 0
_MEANS, _DEVIATIONS = ("mean", "reduce_mean", "nanmean"), ("std", "reduce_std", "nanstd")
_LATER = re.compile(r"test|val|held|eval|new|later|unseen|other", re.IGNORECASE)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Array = np.ndarray[Any, Any]


@dataclass
class _Pass:
    """Sums over the rows of one evaluation, by column."""

    count: int = 0
    total: Array = field(default_factory=lambda: np.zeros(0))
    squares: Array = field(default_factory=lambda: np.zeros(0))
    lowest: Array = field(default_factory=lambda: np.zeros(0))
    highest: Array = field(default_factory=lambda: np.zeros(0))
    first: set[int] = field(default_factory=set)

    def add(self, rows: Array) -> None:
        wide: Array = rows.astype(np.float64)
        if self.count == 0 or self.total.shape != wide.shape[1:]:
            self.count, self.total, self.squares, self.first = 0, np.zeros(wide.shape[1:]), np.zeros(wide.shape[1:]), set()
            self.lowest, self.highest = np.full(wide.shape[1:], np.inf), np.full(wide.shape[1:], -np.inf)
        self.first |= _hashes(rows[:max(0, _ASKED - len(self.first))])
        self.count += len(wide)
        self.total += wide.sum(0)
        self.squares += np.square(wide).sum(0)
        self.lowest, self.highest = np.minimum(self.lowest, wide.min(0)), np.maximum(self.highest, wide.max(0))

    def exact(self) -> tuple[int, bool]:
        """How many columns have a mean of 0 and a deviation of 1; and whether all have that do not stand still."""
        if self.count < _ROWS:
            return 0, False
        mean = self.total / self.count
        deviation = np.sqrt(np.maximum(self.squares / self.count - mean**2, 0))
        moving = deviation > _STD
        near = np.minimum(np.abs(deviation - 1), np.abs(deviation * np.sqrt(self.count / (self.count - 1)) - 1)) < _STD
        # A column of two values that are as common as each other has that by itself, on a scale of -1 to 1.
        own = (np.abs(mean) < _MEAN) & near & moving & (self.highest - self.lowest > _SPAN)
        return int(own.sum()), bool((own | ~moving).all())

    def whole(self) -> bool:
        """Whether all columns have, and there are several."""
        columns, all_ = self.exact()
        return all_ and columns >= _COLUMNS


class Standardised:
    """Told of what a model is given in training and in evaluation. A table of an evaluation ends with the next training step, or where it
    is standardised as a whole."""

    def __init__(self) -> None:
        self._running = _Pass()
        self._exact: list[_Pass] = []
        self._known: set[int] = set()
        self._size = 0

    def trained(self, given: Sequence[Any]) -> None:
        """A training step runs a model on these."""
        if self._running.count:
            self._close()
        rows = _rows(given) if len(self._known) < _KNOWN else None
        if rows is not None:
            self._known |= _hashes(rows)

    def held(self, given: Sequence[Any]) -> None:
        """An evaluation does."""
        rows = _rows(given) if self._size < _LARGEST else None
        if rows is not None:
            self._size += rows.size
            self._running.add(rows)
            if self._running.whole():
                self._close()  # what comes next is another table

    def _close(self) -> None:
        if self._running.exact()[0] >= _COLUMNS and len(self._exact) < _PASSES:
            self._exact.append(self._running)
        self._running = _Pass()

    def facts(self, script: Path) -> StandardisedFacts | None:
        """None unless a whole evaluation is standardised exactly, and the script does it for several tables, each by itself; or else takes
        a mean and a deviation somewhere, of which it is not known what they are of."""
        self._close()
        last = next((one for one in reversed(self._exact) if self._known.isdisjoint(one.first)), None)  # else they are the training's own
        if last is None:
            return None
        columns, all_ = last.exact()
        place = written(script) if all_ else None
        unread = place is None
        tables = len({min(one.first) for one in self._exact})
        place = place or (anywhere(script) if tables <= _TABLES else None)
        return None if place is None else StandardisedFacts(rows=last.count, columns=columns, whole=all_, unread=unread, site=site(place))


def _rows(given: Sequence[Any]) -> Array | None:
    """The first table of floats."""
    value = next((one for one in given if len(getattr(one, "shape", ())) == 2 and "float" in str(getattr(one, "dtype", ""))), None)
    plain = tensors.array(value) if value is not None else None
    return plain if plain is not None and plain.size and bool(np.isfinite(plain).all()) else None


def _hashes(rows: Array) -> set[int]:
    return {hash(row.tobytes()) for row in rows}


def written(script: Path) -> Place | None:
    """Where a script standardises the second of several tables by the numbers of its own: in a function that takes them from what it is
    given and is called for each of them, outside of a loop for one at least; or beside each other. What is done to each of many parts
    alike (persons, recordings) is meant."""
    tree = parsed.tree(str(script))
    looped = {id(inner) for loop in ast.walk(tree) if isinstance(loop, _LOOPS) for inner in ast.walk(loop)}
    inside: set[int] = set()
    for owner, function in _functions(tree):
        inside |= {id(node) for node in ast.walk(function)}
        line = _takes(function)
        calls = _calls(tree, owner, function) if line is not None else []
        if line is not None and len(calls) > 1 and any(id(call) not in looped for call in calls):
            switched = any(isinstance(default, ast.Constant) and default.value is True
                           for default in (*function.args.defaults, *function.args.kw_defaults))
            return (str(script), max(call.lineno for call in calls) if switched else line, function.name)
    beside: dict[str, int] = {}
    for call, of in _deviations(tree):
        if id(call) not in inside and id(call) not in looped:
            beside.setdefault(of, call.lineno)
    if len(beside) < 2:
        return None
    later = [line for of, line in beside.items() if _LATER.search(of)]
    return (str(script), max(later or beside.values()), "")


def anywhere(script: Path) -> Place | None:
    """Where a script takes a mean and a deviation of one thing in a function that says of no axis what is a column: the only line that asks
    for it, or else its own. None where it does so along an axis as well and by names, which `written` reads."""
    tree = parsed.tree(str(script))
    # What is called by no name, out of a table of such functions, may be called for each of several tables or for many parts.
    unnamed = {id(call) for owner, function in _functions(tree) if not _calls(tree, owner, function) for call in ast.walk(function)}
    if any(id(call) not in unnamed for call, _ in _deviations(tree)):
        return None
    # What a function is given is a table; what else it takes a mean of may be anything.
    for owner, function in sorted(_functions(tree), key=lambda each: _takes(each[1]) is None):
        means, deviations = (_taken(function, names) for names in (_MEANS, _DEVIATIONS))
        both = [line for of, line in deviations.items() if of in means]
        if not both:
            continue
        inner = {id(node) for node in ast.walk(function)}
        asked = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute if owner else ast.Name)
                 and name_of(node) == function.name and isinstance(node.ctx, ast.Load) and id(node) not in inner]
        short = len(list(ast.walk(function))) < _SHORT and not function.name.startswith("__")
        return (str(script), asked[0].lineno, "") if len(asked) == 1 and short else (str(script), min(both), function.name)
    return None


def _functions(tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Each with the class that it is a method of, or none."""
    methods = {id(function): node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for function in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield methods.get(id(node), ""), node


def _takes(function: ast.FunctionDef) -> int | None:
    """The line on which a function takes the mean, by columns, of what it is given, if it takes the deviation as well."""
    given = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and given & {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}:
            given |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    if not any(of in given for _, of in _deviations(function)):
        return None
    return next((call.lineno for call, of in _columns(function, _MEANS) if of in given), None)


def _deviations(tree: ast.AST) -> list[tuple[ast.Call, str]]:
    """Deviations by columns of what the mean is taken of as well."""
    means = {of for _, of in _columns(tree, _MEANS)}
    return [(call, of) for call, of in _columns(tree, _DEVIATIONS) if of in means]


def _columns(tree: ast.AST, names: tuple[str, ...]) -> list[tuple[ast.Call, str]]:
    """Calls of these along the first axis, and what each is taken of: a name."""
    found = []
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or name_of(call.func) not in names:
            continue
        of = _of(call)
        before = 1 if call.args and of is call.args[0] else 0
        axes = [*call.args[before:][:1], *(word.value for word in call.keywords if word.arg in ("axis", "dim"))]
        if isinstance(of, ast.Name) and axes and isinstance(axes[0], ast.Constant) and axes[0].value == 0:
            found.append((call, of.id))
    return found


def _of(call: ast.Call) -> ast.expr | None:
    """What a mean is taken of: the argument of a library's function, the owner of a method."""
    library = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id in (
        "np", "numpy", "tf", "torch")
    return call.args[0] if library and call.args else call.func.value if isinstance(call.func, ast.Attribute) else None


def _taken(tree: ast.AST, names: tuple[str, ...]) -> dict[str, int]:
    """What calls of these are asked of, and on which line."""
    calls = [(call, _of(call)) for call in ast.walk(tree) if isinstance(call, ast.Call) and name_of(call.func) in names]
    return {ast.dump(of): call.lineno for call, of in calls if of is not None}


def _calls(tree: ast.AST, owner: str, function: ast.FunctionDef) -> list[ast.Call]:
    """The calls of a function; of a class, where it is made; of a method, on whatever object."""
    wanted = {owner} if function.name == "__init__" else {function.name}
    if function.name == "__call__":
        wanted = {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
                  and name_of(node.value.func) == owner for target in node.targets if isinstance(target, ast.Name)}
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node.func) in wanted]
