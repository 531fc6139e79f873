"""Tables of likenesses that a script ranks once it has trained: does every row find itself, the same vector, in the first place?"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.gallery_facts import GalleryFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_QUERIES, _LARGEST, _TABLES, _ROWS = 20, 1 << 22, 16, 40
_ALL, _APART, _SAME = 0.99, 1e-3, 1e-4  # of the queries; from the second best; what float32 leaves of a cosine of 1
RANKS = frozenset(("argsort", "sort", "topk", "top_k", "argmax", "argmin", "max", "min", "argpartition"))

Array = np.ndarray[Any, Any]

_LARGEST_FIRST = {"argmax": True, "argmin": False}


class Galleries:
    """Told of tables that are ranked; hooks NumPy's own."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._looked = 0
        self._single: dict[Place, list[Array]] = {}  # rows that are ranked one by one

    def attach(self) -> None:
        """Hook the functions of NumPy that rank."""
        for name in ("argsort", "argmax", "argmin", "argpartition"):
            self._session.patches.replace(np, name, self.wrap)

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A function that ranks its first argument."""
        @functools.wraps(original)
        def ranking(table: Any, *args: Any, **kwargs: Any) -> Any:
            if self.listening and self._session.active:
                self._session.safely("a table that is ranked", self.saw, table, _LARGEST_FIRST.get(original.__name__))
            return original(table, *args, **kwargs)

        return ranking

    def heard(self, function: Any, _args: tuple[Any, ...], _kwargs: dict[str, Any], _made: Any) -> None:
        """A method that ranks was called, of NumPy's arrays, which cannot be hooked themselves."""
        table = getattr(function, "__self__", None)
        if isinstance(table, np.ndarray) and self.listening:
            self.saw(table, _LARGEST_FIRST.get(function.__name__))

    @property
    def listening(self) -> bool:
        """Whether there was a training, and nothing was found."""
        seen = self._session.observation
        return bool(seen.steps) and self._looked < _TABLES and seen.evaluation.gallery is None

    def saw(self, table: Any, largest: bool | None = None) -> None:
        """A table is ranked; `largest`: whether its largest or its smallest number is asked for, where that is known."""
        shape = getattr(table, "shape", None)
        rank = getattr(shape, "rank", None) if hasattr(shape, "rank") else len(shape) if isinstance(shape, tuple) else None
        if rank == 1 and isinstance(table, np.ndarray):
            self._row(table, largest)
        sizes = list(shape or ()) if rank == 2 else []
        if not sizes or None in sizes or not _QUERIES <= sizes[0] <= sizes[1] or sizes[0] * sizes[1] > _LARGEST:
            return
        place = self._session.sites.direct()
        if place is None or getattr(table, "requires_grad", False) or not (
                isinstance(table, np.ndarray) or hasattr(table, "numpy")):  # the last: a graph's has no values
            return
        self._looked += 1
        values = tensors.array(table) if not isinstance(table, np.ndarray) else table
        found = measure(values, largest) if values is not None and values.dtype.kind == "f" else None
        if found is not None and not _left_out(place):
            found.site = site(place)
            self._session.observation.evaluation.gallery = found

    def _row(self, row: Array, largest: bool | None) -> None:
        """One query is ranked by itself; some of them at one place, one after the other, make a table."""
        place = self._session.sites.direct() if row.dtype.kind == "f" and _QUERIES <= len(row) <= _LARGEST // _ROWS else None
        if place is None or (place not in self._single and len(self._single) >= _TABLES):
            return
        rows = self._single.setdefault(place, [])
        if len(rows) >= _ROWS or (rows and len(rows[0]) != len(row)):
            return
        rows.append(row.copy())
        if len(rows) == min(_ROWS, len(row)):
            found = measure(np.stack(rows), largest)
            rows[:] = rows[:1] * len(rows)  # the others may go
            if found is not None and not _left_out(place) and not _left_out_by_callers(place):
                found.site = site(place)
                self._session.observation.evaluation.gallery = found


def measure(table: Array, largest: bool | None = None) -> GalleryFacts | None:
    """Facts of `float[queries, gallery]`, cosines or distances (or either times -1), of which the `largest` or the smallest are asked for;
    None where some query does not find its very own
    vector, or finds more of the same."""
    if not np.isfinite(table).all() or not float(np.ptp(table)) or np.allclose(table.sum(1), table.sum() / len(table), rtol=_SAME):
        return None  # the last: shares of a whole
    low, high = float(table.min()), float(table.max())
    if max(-low, high) <= 1 + _SAME:
        for likeness in (table, -table) if largest is None else (table,) if largest else (-table,):
            found = _own(likeness, np.abs(likeness.max(1) - 1) < _SAME)
            if found >= _ALL * len(table):
                return GalleryFacts(queries=len(table), gallery=table.shape[1], found=found)
    if (low >= -_SAME * high and not largest) or (high <= _SAME * -low and largest is not False):
        near = -np.abs(table)
        found = _own(near, near.max(1) >= -_SAME * max(-low, high))
        if found >= _ALL * len(table):
            return GalleryFacts(queries=len(table), gallery=table.shape[1], found=found, distances=True)
    return None


def _own(likeness: Array, best: Array) -> int:
    """How many rows of which each has another best, well apart from its second."""
    chosen, second = likeness.argmax(1), np.partition(likeness, -2, axis=1)[:, -2]
    apart = best & (likeness.max(1) - second > _APART * float(np.ptp(likeness)))
    return min(int(apart.sum()), len(np.unique(chosen[apart])))


def _left_out(place: Place) -> bool:
    """Whether the function goes on to leave out the first place, or what is equal to a query."""
    file, line, function = place
    tree = parsed.tree(file)
    scopes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function
              and node.lineno <= line <= (node.end_lineno or line)]
    return _leaves_out(scopes[-1] if scopes else tree, line)


def _left_out_by_callers(place: Place) -> bool:
    """Whether a function that calls this one does."""
    file, _, function = place
    return any(_leaves_out(node, 0) for node in ast.walk(parsed.tree(file)) if isinstance(node, ast.FunctionDef) and node.name != function
               and any(isinstance(part, ast.Call) and name_of(part.func) == function for part in ast.walk(node)))


def _leaves_out(scope: ast.AST, line: int) -> bool:
    for node in ast.walk(scope):
        if getattr(node, "lineno", 0) < line:
            continue
        if isinstance(node, ast.Compare) and any(isinstance(each, ast.NotEq) for each in node.ops):
            return True  # `order[order != query]`
        parts = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else [
            node.slice] if isinstance(node, ast.Subscript) else []
        if any(isinstance(part, ast.Slice) and isinstance(part.lower, ast.Constant) and part.lower.value == 1 for part in parts):
            return True
    return False

