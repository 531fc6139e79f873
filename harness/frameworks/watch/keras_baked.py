"""Numbers of Python in a model's own step, which runs while it is traced and never again: those that the script changes later, of which the
graph never hears, and those that the step itself counts with."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import BakedFacts, CountedFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch import written as text
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_TRACED = ("train_step", "call", "compute_loss")
_STEPS = 8


class Baked:
    """Told of each tracing of a training step, and of each step."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._read: dict[str, Place] = {}
        self._then: dict[str, Any] = {}
        self._places: dict[str, Place] = {}
        self._counted: dict[str, tuple[Any, int]] = {}  # the value after tracing, and the steps since

    def traced(self, model: Any) -> None:
        """A graph has been made of the step of a model: its numbers are those of now."""
        functions = {} if getattr(model, "run_eagerly", False) else body(type(model), self._session)
        read, counts = reads(functions), _counts(functions)
        self._read = {name: place for name, place in read.items() if name not in written(functions) and not name.startswith("_")}
        self._then = {name: vars(model)[name] for name in self._read if is_number(vars(model).get(name))}
        self._places = {name: place for name, place in counts.items() if name in read}
        self._counted = {name: (vars(model)[name], 0) for name in self._places if is_number(vars(model).get(name))}

    def stepped(self, model: Any) -> None:
        """A step by that graph."""
        for name, (value, steps) in self._counted.items():
            now = vars(model).get(name)  # counted further where the step was traced again
            self._counted[name] = (now, steps + 1 if now == value else 0)
        if self._session.observation.baked is not None:
            return
        for name, before in self._then.items():
            now = vars(model).get(name)
            if is_number(now) and now != before:
                made = text.attribute(type(model), name, self._session.sites)
                self._session.observation.baked = BakedFacts(name=f"self.{name}", kept=float(before), now=float(now),
                                                             read=site(self._read[name]),
                                                             site=site(made or self._read[name]))
                return

    def finish(self) -> None:
        """The first number that was to be counted with each step, and was not."""
        for name, (value, steps) in self._counted.items():
            if steps >= _STEPS and is_number(value):
                self._session.observation.counted = CountedFacts(name=name, value=float(value), steps=steps, site=site(self._places[name]))
                return


def is_number(value: Any) -> bool:
    """Whether it is a plain number of Python."""
    return type(value) in (int, float, bool)


def body(owner: type, session: WatchSession, traced: tuple[str, ...] = _TRACED) -> dict[ast.FunctionDef, str]:
    """The functions of a class of the script's own that run while those named are `traced`, with the file that they stand in."""
    code = next((code for made in vars(owner).values() if (code := _code(made)) is not None and code.co_name == traced[0]), None)
    tree = parsed.tree(code.co_filename) if code is not None and session.sites.is_own(code.co_filename) else None
    made = next((node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == owner.__name__), None) if tree else None
    if made is None or code is None:
        return {}
    functions = {node.name: node for node in made.body if isinstance(node, ast.FunctionDef)}
    waiting, found = [name for name in traced if name in functions], {}
    while waiting:
        function = functions[waiting.pop()]
        found[function] = code.co_filename
        called = {node.attr for node, _ in _attributes({function: code.co_filename})} & functions.keys()
        waiting += [name for name in called if functions[name] not in found]
    return found


def _code(made: Any) -> Any:
    """The code of a method, be it one that `tf.function` has compiled."""
    made = getattr(made, "python_function", made)
    return getattr(inspect.unwrap(made) if callable(made) else made, "__code__", None)


def _attributes(body: dict[ast.FunctionDef, str]) -> Iterator[tuple[ast.Attribute, Place]]:
    for function, file in body.items():
        for node in ast.walk(function):
            if parsed.of_self(node) and isinstance(node, ast.Attribute):
                yield node, (file, node.lineno, function.name)


def written(body: dict[ast.FunctionDef, str]) -> set[str]:
    """The attributes of itself that something is assigned to."""
    return {node.attr for node, _ in _attributes(body) if isinstance(node.ctx, ast.Store)}


def reads(body: dict[ast.FunctionDef, str]) -> dict[str, Place]:
    """The attributes of itself that are read, with the first line."""
    found: dict[str, Place] = {}
    for node, place in _attributes(body):
        if isinstance(node.ctx, ast.Load):
            found.setdefault(node.attr, place)
    return found


def _counts(body: dict[ast.FunctionDef, str]) -> dict[str, Place]:
    """The attributes of itself that something is added to (`self.seen += 1`), with the line."""
    found: dict[str, Place] = {}
    for function, file in body.items():
        for node in ast.walk(function):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute) and parsed.of_self(node.target):
                found.setdefault(node.target.attr, (file, node.lineno, function.name))
    return found
