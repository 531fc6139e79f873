"""Random numbers of NumPy or Python that a script draws where TensorFlow traces: once, and the same ones for ever after."""

from __future__ import annotations

import ast
import contextlib
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from harness.frameworks.watch import parsed
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import Place

_DEPTH = 3
_DRAWING = re.compile(r"^((np|numpy)\.random|random)\.(?!seed|default_rng|RandomState|Generator|[gs]et_?state)")
_NAMED = re.compile(r"(^|\.)_?(rng|generator|random_state)\.")


class Draws:
    """Watches the states of generators around what is traced, and reads the text of it for the draw."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._read: dict[Any, Place | None] = {}  # by code

    def attach(self) -> None:
        """Hook `tf.data.Dataset.map`, which traces its function at once."""
        import tensorflow as tf

        self._session.patches.replace(tf.data.Dataset, "map", self._wrap_map)

    def _wrap_map(self, original: Any) -> Any:
        def map(dataset: Any, map_func: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A001
            if not self._session.active:
                return original(dataset, map_func, *args, **kwargs)
            with self.traced([map_func], "drawn_in_map"):
                return original(dataset, map_func, *args, **kwargs)

        return map

    @contextlib.contextmanager
    def traced(self, functions: list[Any], name: str) -> Iterator[None]:
        """While inside, functions of the script's are traced, or run in the place of their graph; `name` of the site where one draws."""
        known = name in self._session.observation.sites
        place = None if known else self._session.safely("draws", self._drawing, functions)
        before = _states(functions) if place is not None else None
        yield
        if before is not None and _states(functions) != before and not _eagerly():
            self._session.noted(name, place)

    def _drawing(self, functions: list[Any]) -> Place | None:
        for function in functions:
            code = getattr(_plain(function), "__code__", None)
            if code not in self._read:
                self._read[code] = drawing(function, self._session)
            if self._read[code] is not None:
                return self._read[code]
        return None


def _eagerly() -> bool:
    import tensorflow as tf

    return bool(tf.config.functions_run_eagerly())


def _states(functions: list[Any]) -> list[Any]:
    """The states of the generators that functions may draw from, so far as they compare."""
    scopes = {id(scope): scope for function in functions if (scope := getattr(_plain(function), "__globals__", None)) is not None}
    held = [value for scope in scopes.values() for value in list(scope.values()) if isinstance(value, np.random.Generator)]
    legacy = np.random.get_state(legacy=False)
    return [str(legacy["state"]["key"][:4]), legacy["state"]["pos"], hash(random.getstate()),
            *(str(generator.bit_generator.state) for generator in held[:8])]


def _plain(function: Any) -> Any:
    """The function behind a method, or behind what wraps it."""
    function = getattr(function, "__func__", function)
    return getattr(function, "__wrapped__", function)


def drawing(function: Any, session: WatchSession) -> Place | None:
    """The line of a function of the script's, or of another one that it calls, on which NumPy or Python draws; None where none does."""
    code = getattr(_plain(function), "__code__", None)
    if code is None or not session.sites.is_own(code.co_filename):
        return None
    tree = parsed.tree(code.co_filename)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda) and code.co_name in
             (getattr(node, "name", "<lambda>"),) and _begins(node) <= code.co_firstlineno <= (node.end_lineno or node.lineno)]
    known = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    scope = getattr(_plain(function), "__globals__", {})
    line = _line(nodes[-1], known, lambda name: isinstance(scope.get(name), np.random.Generator | np.random.RandomState | random.Random),
                 _DEPTH) if nodes else None
    return (code.co_filename, line, code.co_name) if line is not None else None


def _begins(node: ast.FunctionDef | ast.Lambda) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(part.lineno for part in decorators)])


def _line(node: ast.AST, known: dict[str, ast.FunctionDef], draws: Callable[[str], bool], depth: int) -> int | None:
    for call in [part for part in ast.walk(node) if isinstance(part, ast.Call)]:
        name = ast.unparse(call.func)
        if _DRAWING.match(name) or _NAMED.search(name) or ("." in name and draws(name.split(".")[0])):
            return call.lineno
        inner = known.get(name.removeprefix("self."))
        if inner is not None and inner is not node and depth and (line := _line(inner, known, draws, depth - 1)) is not None:
            return line
    return None
