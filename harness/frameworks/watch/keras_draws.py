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


class Draws:
    """Watches the states of generators around what is traced, and reads the text of it for the draw."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._read: dict[Any, tuple[Place, str] | None] = {}  # by code
        self.tracing: str | None = None  # the site that a draw would be noted by, while a function for training is traced

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
    def traced(self, functions: list[Any], name: str, *, trains: bool = True) -> Iterator[None]:
        """While inside, functions of the script's are traced, or run in the place of their graph; `name` of the site where one draws."""
        before, self.tracing = self.tracing, name if trains and not _eagerly() else None
        try:
            with self._moving(functions, name):
                yield
        finally:
            self.tracing = before

    @contextlib.contextmanager
    def _moving(self, functions: list[Any], name: str) -> Iterator[None]:
        known = name in self._session.observation.sites
        found = None if known else self._session.safely("draws", self._drawing, functions)
        if found is None:
            yield
            return
        place, kind = found
        before = _state(functions, kind)
        yield
        if _state(functions, kind) != before and not _eagerly():
            self._session.noted(name, place)

    def _drawing(self, functions: list[Any]) -> tuple[Place, str] | None:
        for function in functions:
            code = getattr(_plain(function), "__code__", None)
            if code not in self._read:
                self._read[code] = drawing(function, self._session)
            found = self._read[code]
            if found is not None:
                return found
        return None


def _eagerly() -> bool:
    import tensorflow as tf

    return bool(tf.config.functions_run_eagerly())


def _state(functions: list[Any], kind: str) -> Any:
    """The state of what functions draw from: of NumPy as a whole (`numpy`), of Python (`python`), of generators that they know by name."""
    if kind == "python":
        return random.getstate()
    if kind == "numpy":
        legacy = np.random.get_state(legacy=False)["state"]
        return legacy["key"].tobytes(), legacy["pos"]
    scopes = {id(scope): scope for function in functions for scope in _scopes(function)}
    return [str(value.bit_generator.state) for scope in scopes.values() for value in list(scope.values())
            if isinstance(value, np.random.Generator)]


def _scopes(function: Any) -> list[dict[str, Any]]:
    """What a function knows by name: globals, and the attributes of the object that it is a method of."""
    owner = _owner(function)
    scopes = getattr(_plain(function), "__globals__", None), getattr(owner, "__dict__", None)
    return [scope for scope in scopes if isinstance(scope, dict)]


def _owner(function: Any) -> Any:
    """The object that a method belongs to; TensorFlow has its traced ones belong to a stand-in that knows the object."""
    for part in (function, getattr(function, "__wrapped__", None)):
        owner = getattr(part, "__self__", None)
        if owner is not None:
            return getattr(owner, "target", owner) if type(owner).__name__ == "TfMethodTarget" else owner
    return None


def _generator(name: str, function: Any) -> bool:
    """Whether `rng` or `self.rng` is a generator of NumPy where a function stands."""
    owner, _, attribute = name.rpartition(".")
    if owner not in ("", "self"):
        return False
    known = getattr(_owner(function), "__dict__", {}) if owner else getattr(_plain(function), "__globals__", {})
    return isinstance(known.get(attribute), np.random.Generator)


def _plain(function: Any) -> Any:
    """The function behind a method, or behind what wraps it."""
    function = getattr(function, "__func__", function)
    return getattr(function, "__wrapped__", function)


def drawing(function: Any, session: WatchSession) -> tuple[Place, str] | None:
    """The line of a function of the script's, or of another one that it calls, on which NumPy or Python draws, and from what; None where
    none does."""
    code = getattr(_plain(function), "__code__", None)
    if code is None or not session.sites.is_own(code.co_filename):
        return None
    tree = parsed.tree(code.co_filename)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)
             and getattr(node, "name", "<lambda>") == code.co_name
             and _begins(node) <= code.co_firstlineno <= (node.end_lineno or node.lineno)]
    known = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found = _draw(nodes[-1], known, lambda name: _generator(name, function), _DEPTH) if nodes else None
    return ((code.co_filename, found[0], code.co_name), found[1]) if found is not None else None


def _begins(node: ast.FunctionDef | ast.Lambda) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(part.lineno for part in decorators)])


def _draw(node: ast.AST, known: dict[str, ast.FunctionDef], draws: Callable[[str], bool], depth: int) -> tuple[int, str] | None:
    for call in [part for part in ast.walk(node) if isinstance(part, ast.Call)]:
        name = ast.unparse(call.func)
        if _DRAWING.match(name):
            return call.lineno, "python" if name.startswith("random.") else "numpy"
        if "." in name and draws(name.rpartition(".")[0]):
            return call.lineno, "generator"
        inner = known.get(name.removeprefix("self."))
        if inner is not None and inner is not node and depth and (found := _draw(inner, known, draws, depth - 1)) is not None:
            return found
    return None
