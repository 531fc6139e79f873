"""Numbers of Python that a function compiled by `tf.function` reads: its graph keeps those of the first call."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from types import CodeType
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import BakedFacts
from harness.frameworks.watch import keras_baked, parsed, written
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_GRAPHS = 60
# What a function reads: how it is written there -> its value, the line that reads it, and the object whose attribute it is, if any.
Numbers = dict[str, tuple[float, Place, Any]]


class Kept:
    """Told of every call of such a function, and of what TensorFlow tells its graphs apart by."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._first: dict[Any, tuple[Any, Numbers]] = {}  # with the function, so that its number is not given to another
        self._bodies: dict[tuple[type, CodeType], dict[str, Place]] = {}

    def called(self, function: Any, key: Any, inner: Any) -> None:
        """A call for which TensorFlow would take the graph of the first call with this key. `inner`: the function as it is written."""
        if self._session.observation.baked is not None or (key not in self._first and len(self._first) >= _GRAPHS):
            return
        now = dict(self._read(inner))
        for name, (value, place, owner) in self._first.setdefault(key, (function, now))[1].items():
            if name in now and now[name][0] != value:
                made = (written.attribute(type(owner), name.removeprefix("self."), self._session.sites) if owner is not None
                        else _given(place[0], name))
                self._session.observation.baked = BakedFacts(name=name, kept=float(value), now=float(now[name][0]), read=site(place),
                                                             site=site(made or place), function=inner.__code__.co_name)
                return

    def _read(self, inner: Any) -> Iterator[tuple[str, tuple[float, Place, Any]]]:
        code: CodeType = inner.__code__
        owner = getattr(inner, "__self__", None)
        owner = getattr(owner, "target", owner)  # TensorFlow's own stand-in for what a method belongs to
        if owner is not None and not isinstance(owner, type):
            for name, place in self._attributes(type(owner), code).items():
                value = getattr(owner, "__dict__", {}).get(name)
                if value is not None and keras_baked.is_number(value):
                    yield f"self.{name}", (value, place, owner)
        function = getattr(inner, "__func__", inner)
        cells = dict(zip(code.co_freevars, getattr(function, "__closure__", None) or (), strict=False))
        known = getattr(function, "__globals__", {})
        for name, line in _names(code).items():
            value = _inside(cells[name]) if name in cells else known.get(name)
            if value is not None and keras_baked.is_number(value):
                yield name, (value, (code.co_filename, line, code.co_name), None)
        for name, attribute, line in _dotted(code):
            of = _inside(cells[name]) if name in cells else known.get(name)
            held, called = getattr(of, "__dict__", {}), getattr(getattr(type(of), attribute, None), "__code__", None)
            read = {attribute: (code.co_filename, line, code.co_name)} if called is None else self._attributes(type(of), called)
            for inner_name, place in read.items():
                if keras_baked.is_number(held.get(inner_name)):
                    yield f"{name}.{inner_name}", (held[inner_name], place, None)

    def _attributes(self, owner: type, code: CodeType) -> dict[str, Place]:
        """The attributes of itself that a method, and what it calls, reads and does not set."""
        if (owner, code) not in self._bodies:
            body = keras_baked.body(owner, self._session, (code.co_name,))
            stored = keras_baked.written(body)
            self._bodies[owner, code] = {name: place for name, place in keras_baked.reads(body).items() if name not in stored}
        return self._bodies[owner, code]


def _inside(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _written(code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    return parsed.function(parsed.tree(code.co_filename), code.co_name, code.co_firstlineno)


@functools.lru_cache(maxsize=256)
def _dotted(code: CodeType) -> list[tuple[str, str, int]]:
    """The attributes, `name.attribute`, that a function reads of what is not its own and does not set, with the line of each."""
    names, made = _names(code), _written(code)
    inside = [node for part in made.body for node in ast.walk(part) if isinstance(node, ast.Attribute)
              and isinstance(node.value, ast.Name) and node.value.id in names] if made is not None else []
    stored = {ast.unparse(node) for node in inside if not isinstance(node.ctx, ast.Load)}
    found = {ast.unparse(node): (node.value.id, node.attr, node.lineno) for node in reversed(inside)
             if isinstance(node.value, ast.Name) and ast.unparse(node) not in stored}
    return list(found.values())


@functools.lru_cache(maxsize=256)
def _names(code: CodeType) -> dict[str, int]:
    """The names that a function reads and does not set, with the first line of each."""
    made = _written(code)
    if made is None:
        return {}
    inside = [node for part in made.body for node in ast.walk(part) if isinstance(node, ast.Name)]
    stored = {node.id for node in inside if not isinstance(node.ctx, ast.Load)} | set(code.co_varnames)
    found: dict[str, int] = {}
    for node in inside:
        if node.id not in stored:
            found.setdefault(node.id, node.lineno)
    return found


def _given(file: str, name: str) -> Place | None:
    """The first line of a file that gives a name a value."""
    lines = [node.lineno for node in ast.walk(parsed.tree(file)) if isinstance(node, ast.Name) and node.id == name
             and isinstance(node.ctx, ast.Store)]
    return (file, min(lines), "<module>") if lines else None
