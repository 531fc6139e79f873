"""Scores of classes that a script computes itself: functions of references and answers, told by a name of theirs or of what they give.

They may be handed on by a registry or a partial, so it is their definitions that are marked. Lines, tracebacks and the file are the
script's own; where nobody watches, a function is what was written.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.frameworks.watch import equals, parsed, tensors
from harness.frameworks.watch.sites import Place

NAME = "__score_in_watched_script__"

# Ratios of counts over rows. A precision at a rank, an overlap of masks, an area under a curve may well be taken of each query or picture.
_SCORE = re.compile(
    r"(^|_)(f1|f2|f_?beta|f_?score|f_?measure|precision|recall|sensitivity|specificity|kappa|mcc|matthews|balanced|uar)(_|$)")
_RANKED = re.compile(r"(^|_)(at|top|k|ap|map)(_|$|\d)|@")

Array = np.ndarray[Any, Any]


def _unmarked(function: Any) -> Any:
    return function


setattr(builtins, NAME, _unmarked)


def mark(tree: ast.Module, text: str) -> None:
    """Puts `@NAME` under the other decorators of a script's functions of two and more arguments whose name, or a key of a dict in them,
    is a score's. A script that has its functions compiled is left as it is."""
    if equals.COMPILED.search(text):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and len(node.args.args) > 1 and any(map(is_score, _names(node))):
            node.decorator_list.append(ast.copy_location(ast.Name(id=NAME, ctx=ast.Load()), node))


def _names(function: ast.FunctionDef) -> Iterator[str]:
    yield function.name
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def is_score(name: str) -> bool:
    """Whether this is what a score of classes would be called."""
    return bool(_SCORE.search(name.lower())) and not _RANKED.search(name.lower())


def named(function: str, made: Any) -> Iterator[tuple[str, float]]:
    """The scores in what a function of this name has given: one number, or those of a dict that are called so."""
    for name, value in made.items() if isinstance(made, Mapping) else [(function, made)]:
        if isinstance(name, str) and is_score(name):
            found = value if isinstance(value, float) else tensors.array(value)
            if found is not None and np.size(found) == 1 and np.asarray(found).dtype.kind == "f":
                yield name, float(np.reshape(found, ()))


def handed_on(function: str, called: Place) -> Place:
    """Where a function that is `called` by another name is given to what calls it; where it is called if no line does so, or several."""
    names = [node for node in ast.walk(parsed.tree(called[0])) if isinstance(node, ast.Name) and node.id == function]
    calls = {id(node.func) for node in ast.walk(parsed.tree(called[0])) if isinstance(node, ast.Call)}
    given = {node.lineno for node in names if id(node) not in calls}
    return (called[0], given.pop(), "<module>") if len(given) == 1 and called[1] not in {node.lineno for node in names} else called


@dataclass(frozen=True)
class Call:
    """One call of such a function. `sides`: references, `int[rows]`, and answers: `int[rows]`, `float[rows]` or `float[rows, classes]`."""

    sides: tuple[Array, Array]
    again: Callable[[Array, Array], float]

    @classmethod
    def of(cls, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Call | None:
        """None where its first two arguments are not the two sides of as many rows."""
        sides = [side for value in args[:2] if (side := tensors.array(value)) is not None and side.ndim in (1, 2)]
        if len(sides) < 2 or len(sides[0]) != len(sides[1]):
            return None
        ends = [number for number, side in enumerate(sides) if side.ndim == 1 and side.dtype.kind in "iub"]
        if not ends:
            return None
        # Of two rows of classes either may be the reference.
        wanted = ends[0] if len(ends) == 1 else 0

        def again(references: Array, answers: Array) -> float:
            both = [_like(side, args[number]) for number, side in enumerate(
                (references, answers) if wanted == 0 else (answers, references))]
            found = function(*both, *args[2:], **kwargs)
            return dict(named(function.__name__, found)).get(name, float("nan"))

        return cls((sides[wanted], sides[1 - wanted]), again)


def _like(values: Array, given: Any) -> Any:
    """An array as what the script has given: of its framework, on the CPU."""
    if tensors.is_tensor(given):
        return sys.modules["torch"].from_numpy(values).to(given.dtype)
    if isinstance(given, np.ndarray):
        return values
    return sys.modules["tensorflow"].convert_to_tensor(values)
