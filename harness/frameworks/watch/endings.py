"""Values that are learnt from what comes next: is it known where an episode ends, and not used?

What is written decides where to look: `reward + discount * model(next)` in a function that has got reward and next state together with
something that it never reads. What that holds, when a gradient is taken, decides what it is: zeros and some ones, one for each reward.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import numpy as np

from harness.checks.loss_facts import EndingFacts
from harness.checks.observation import Observation
from harness.frameworks.watch import ending_parts as parts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Sites, site

STEPS = 8
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


@dataclass(frozen=True)
class Unread:
    """Names that a function gets together, and does not read; `reward`: of the same; `line`: where a later value is added to it."""

    names: tuple[str, ...]
    reward: str
    line: int


def note(seen: Observation, sites: Sites, array: Callable[[Any], np.ndarray[Any, Any] | None]) -> None:
    """A gradient is about to be taken of a loss. `array`: numbers of a tensor, None of what is none."""
    known = seen.ending
    if known is not None and known.steps >= STEPS:
        return
    for frame in sites.frames():
        if _in_parts(seen, frame, array):
            return
        for found in _of(frame.f_code):
            reward = array(frame.f_locals.get(found.reward))
            for name in found.names if reward is not None else ():
                marks = array(frame.f_locals.get(name))
                if reward is None or marks is None or marks.size != reward.size or not np.isin(marks, (0, 1)).all():
                    continue
                if known is None:
                    place = (frame.f_code.co_filename, found.line, frame.f_code.co_name)
                    known = seen.ending = EndingFacts(name=name, reward=found.reward, rows=int(marks.size), site=site(place))
                if known.name == name:
                    known.steps += 1
                    known.marked += int(np.count_nonzero(marks))
                    return


def _in_parts(seen: Observation, frame: FrameType, array: Callable[[Any], np.ndarray[Any, Any] | None]) -> bool:
    """The same of one thing that holds reward, next state and end together: a named tuple, a dict or an object of data."""
    code, known = frame.f_code, seen.ending
    for found in parts.of(code.co_filename, code.co_name, code.co_firstlineno):
        held = parts.fields(frame.f_locals.get(found.holder))
        reward = array(held.get(found.reward))
        for name in held.keys() - found.read if reward is not None else ():
            marks, said = array(held[name]), f"{found.holder}.{name}"
            if reward is None or marks is None or marks.size != reward.size or not np.isin(marks, (0, 1)).all():
                continue
            if known is None:
                known = seen.ending = EndingFacts(name=said, reward=f"{found.holder}.{found.reward}", rows=int(marks.size),
                                                  site=site((code.co_filename, found.line, code.co_name)))
            if known.name == said:
                known.steps += 1
                known.marked += int(np.count_nonzero(marks))
                return True
    return False


def _of(code: CodeType) -> tuple[Unread, ...]:
    return _in(code.co_filename, code.co_name, code.co_firstlineno)


@functools.lru_cache(maxsize=256)
def _in(file: str, name: str, line: int) -> tuple[Unread, ...]:
    tree = parsed.tree(file)
    if name == "<module>":
        return tuple(_unread(tree))
    scope = parsed.function(tree, name, line)
    return tuple(_unread(scope)) if scope is not None else ()


def _unread(scope: _Scope) -> Iterator[Unread]:
    nodes = list(parsed.within(scope))
    read = _read(scope)
    made = {name: node.value for node in nodes if isinstance(node, ast.Assign) for target in node.targets for name in _names(target)}
    sums = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)]
    for group in _together(scope, nodes):
        left = tuple(name for name in group if name not in read and name.strip("_"))
        for term in sums if left else ():
            for one, other in ((term.left, term.right), (term.right, term.left)):
                reward = next((name for name in _names(one) if name in group), None)
                if reward is not None and not _calls(one) and isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult):
                    later = [other, *(made[name] for name in _names(other) if name in made)]
                    if any(_answers(part, group - {reward}) for part in later):
                        yield Unread(left, reward, term.lineno)


def _read(scope: ast.AST) -> set[str]:
    """Names that are read in a function or in those inside it, unless they are these' own."""
    found: set[str] = set()
    inner = list(ast.iter_child_nodes(scope))
    while inner:
        node = inner.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            bound = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
            bound |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
            found |= _read(node) - bound
        else:
            found |= {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
            inner += ast.iter_child_nodes(node)
    return found


def _together(scope: _Scope, nodes: list[ast.AST]) -> Iterator[set[str]]:
    """Names that are bound at once: a function's arguments, what a tuple is taken apart into."""
    if not isinstance(scope, ast.Module):
        yield {argument.arg for argument in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)}
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.For | ast.comprehension) else []
        yield from (set(_names(target)) for target in targets if any(isinstance(part, ast.Tuple) for part in ast.walk(target)))


def _names(node: ast.AST) -> list[str]:
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def _calls(node: ast.AST) -> bool:
    """Whether a function is called that is no method: what it makes of a reward is not known."""
    return any(isinstance(part, ast.Call) and isinstance(part.func, ast.Name) for part in ast.walk(node))


def _answers(node: ast.AST, given: set[str]) -> bool:
    """Whether something is called with one of these."""
    return any(isinstance(part, ast.Call) and any(name in given for argument in part.args for name in _names(argument))
               for part in ast.walk(node))
