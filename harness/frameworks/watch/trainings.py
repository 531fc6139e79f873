"""Trainings of a script one after the other: where another begins than the one that is watched, so that it can be watched in its turn."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import FurtherFacts
from harness.frameworks.watch import own_means, parsed
from harness.frameworks.watch.plans import Plan
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_TELLING = 3


@dataclass
class _Training:
    """One optimizer's. `stack`: own frames of the script's file at its first step, outermost first; `kind`: what it trains; `others`: steps
    of the older ones by then."""

    optimizer: Any
    stack: tuple[Place, ...]
    kind: Any
    others: dict[int, int]
    steps: int = 0
    plan: Plan = field(default_factory=Plan)


class Trainings:
    """Told of every step of every optimizer. A training is another one where the older optimizers have done their work by then and rest
    from there on, and where it is another line's, or trains something else: folds and searches repeat the first."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._known: dict[int, _Training] = {}
        self._begins: _Training | None = None

    def stepped(self, optimizer: Any, kind: Callable[[], Any], *, whole: bool = False) -> None:
        """An optimizer is about to step, or a `whole` training with it to begin. `kind`: tells what it trains; asked once."""
        training, seen = self._known.get(id(optimizer)), self._session.observation
        if training is None:
            script = str(self._session.script)
            stack = tuple(place for place in reversed(self._session.sites.stack()) if place[0] == script)
            others = {number: other.steps for number, other in self._known.items()}
            training = self._known[id(optimizer)] = _Training(optimizer, stack, kind(), others)
            for told in (self._session.wholes, self._session.eaten, self._session.choosers):
                self._session.safely("what has a name", told.named, self._session.sites.frames())
            if seen.own_mean is None:
                seen.own_mean = self._session.safely("means of labels", own_means.find, self._session.sites.frames(), self._session.script)
        training.steps += _TELLING if whole else 1
        if not training.others and not whole and not seen.trainer and seen.optimizer is not None:
            seen.optimizer.training_steps = self._session.safely(
                "the length of a training", training.plan.stepped, self._session.sites.frames)
        if seen.optimizer is not None and not whole:
            each_new = all(other.steps == 1 for other in self._known.values())
            seen.optimizer.remade = len(self._known) if each_new else 0
        if self._begins is not None and id(optimizer) in self._begins.others:
            seen.further = self._begins = None  # they take turns
        if seen.further is None and training.others and (training.steps == 1 or whole):
            seen.further = self._begun(training)
            self._begins = training if seen.further is not None else None

    def repeats(self, optimizer: Any, kind: Callable[[], Any]) -> bool:
        """Whether an optimizer that has taken no step yet is about to train what the first one has trained: another fold, another try."""
        first = next(iter(self._known.values()), None)
        return first is not None and id(optimizer) not in self._known and bool(first.kind == kind())

    def _begun(self, training: _Training) -> FurtherFacts | None:
        """Where a training begins that follows the others; None where it goes beside them, or repeats them."""
        steps = {number: self._known[number].steps for number in training.others}
        if steps != training.others or max(steps.values()) < _TELLING:
            return None
        before = [other for number, other in self._known.items() if number in training.others]
        parted = _parted(before[-1].stack, training.stack)
        if parted is not None:
            return FurtherFacts(line=parted[0], site=site(parted[1]))
        line = _loop(training.stack) if all(other.kind != training.kind for other in before) else None
        return FurtherFacts(line=line, turn=1 + len(before), site=site(training.stack[-1])) if line is not None else None


def _parted(first: tuple[Place, ...], second: tuple[Place, ...]) -> tuple[int, Place] | None:
    """The line of the statement in which the first of two stacks was, and where the second was, in a later one of the same suite."""
    for one, other in zip(first, second, strict=False):
        if one[2] != other[2]:
            return None
        if one[1] != other[1]:
            held = [(_at(suite, one[1]), _at(suite, other[1])) for suite in _suites(one[0])]
            return next(((ahead.lineno, other) for ahead, behind in held
                         if ahead is not None and behind is not None and ahead.lineno < behind.lineno), None)
    return None


def _at(suite: list[ast.stmt], line: int) -> ast.stmt | None:
    return next((node for node in suite if node.lineno <= line <= (node.end_lineno or 0)), None)


def _loop(stack: tuple[Place, ...]) -> int | None:
    """The line of the outermost loop around a stack."""
    for file, line, _ in stack:
        loops = [node for node in ast.walk(parsed.tree(file)) if isinstance(node, ast.For | ast.While)
                 and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)]
        if loops:
            return min(loop.lineno for loop in loops)
    return None


def _suites(file: str) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(parsed.tree(file)):
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            if isinstance(suite, list):
                yield suite
