"""Numbers of rows, `(N, 1)` and `(N,)`, that were put together to a table of all pairs, of which the loss is a mean.

A mean of products or sums over all pairs tells the rows apart no more: it is made of the two means. So nobody means it, where tables of
distances or likenesses, which are taken further by `exp`, `abs` or a maximum, are meant.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

from harness.frameworks.watch import torch_graph
from harness.frameworks.watch.sites import Place, Sites

_JOINED = frozenset(("add", "sub", "mul", "div", "rsub", "radd", "rmul", "truediv", "subtract", "multiply", "divide"))
_QUOTIENTS = frozenset(("div", "truediv", "divide"))
_PRODUCTS = _QUOTIENTS | {"mul", "rmul", "multiply"}
_KEPT = frozenset(("neg", "detach", "clone", "to", "float", "double", "negative"))
_CHOSEN = frozenset(("min", "max", "minimum", "maximum"))
_MEANS = frozenset(("mean", "sum"))
_NAMES = _JOINED | _KEPT | _CHOSEN | _MEANS
_MOST = 64


@dataclass
class Table:
    """`sides`: the shapes that were broadcast, the one with a gradient first where one alone has any."""

    tensor: weakref.ref[Any]
    sides: tuple[tuple[int, ...], tuple[int, ...]]
    place: Place | None


class Tables:
    """Follows such tables through a step. `found`: that of which something that learns is the mean."""

    def __init__(self, torch: Any, sites: Sites) -> None:
        self._is_tensor = torch.is_tensor
        self._sites = sites
        self._tables: dict[int, Table] = {}
        self.found: Table | None = None

    def clear(self) -> None:
        self._tables, self.found = {}, None

    def saw(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        name = getattr(function, "__name__", "").strip("_")
        if name not in _NAMES or not self._is_tensor(result):
            return
        given = [arg for arg in (*args, *kwargs.values()) if self._is_tensor(arg)]
        tables = [table for arg in given if (table := self._of(arg)) is not None]
        if name in _MEANS:
            if tables and self.found is None and result.dim() == 0 and result.requires_grad:
                self.found = tables[0]
        elif result.dim() == 2 and result.shape[0] == result.shape[1] > 1:
            rows = int(result.shape[0])
            made = self._begun(given, rows) if name in _JOINED and not tables else None
            if made is None and tables and self._goes_on(name, given, rows):
                made = tables[0]
            if made is not None and len(self._tables) < _MOST:
                self._tables[id(result)] = Table(weakref.ref(result), made.sides, made.place)

    def _of(self, tensor: Any) -> Table | None:
        known = self._tables.get(id(tensor))
        return known if known is not None and known.tensor() is tensor else None

    def _begun(self, given: list[Any], rows: int) -> Table | None:
        shapes = [tuple(map(int, one.shape)) for one in given]
        if sorted(shapes) != [(rows,), (rows, 1)] or any(one.is_leaf and one.requires_grad for one in given):
            return None
        if any(torch_graph.axis_added(one.grad_fn) for one in given):
            return None  # by the script itself, to something that learns
        sides = shapes if given[0].requires_grad or not given[1].requires_grad else shapes[::-1]
        return Table(weakref.ref(given[0]), (sides[0], sides[1]), self._sites.place())

    def _goes_on(self, name: str, given: list[Any], rows: int) -> bool:
        if name in _CHOSEN:
            return len(given) > 1 and all(self._of(one) is not None for one in given)
        others = [one for one in given if self._of(one) is None]
        if (name in _PRODUCTS and len(given) - len(others) > 1) or (name in _QUOTIENTS and self._of(given[0]) is None):
            return False  # squares and inverses of pairs are meant
        return all(one.numel() == 1 or tuple(one.shape) in ((rows,), (rows, 1)) for one in others)
