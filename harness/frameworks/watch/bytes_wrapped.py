"""Sums, differences, products and powers of bytes and of samples of 16 bits, `picture + 40`, `wave ** 2`: where they do not fit into as
many bits, they begin again at the other end.

Arithmetic of arrays cannot be hooked, so functions stand there while a script runs that speaks of such a dtype. Lines, tracebacks and the
file are the script's own; where nobody watches, the functions are those of `operator`.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.value_facts import WrapFacts
from harness.frameworks.watch import equals, tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_OPERATORS = {ast.Add: ("__add_in_watched_script__", operator.add), ast.Sub: ("__sub_in_watched_script__", operator.sub),
              ast.Mult: ("__mul_in_watched_script__", operator.mul), ast.Pow: ("__pow_in_watched_script__", operator.pow)}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "pow": "**"}
_NARROW = re.compile(r"\bu?int(8|16)\b")
_LEAST, _LINES, _CALLS, _LARGEST = 64, 16, 100, 1 << 21

for _name, _function in _OPERATORS.values():
    setattr(builtins, _name, _function)


def mark(tree: ast.Module, text: str) -> None:
    """Puts `NAME(a, b)` in the place of each `a + b`, `a - b`, `a * b` and `a ** b` of a script's `tree`, but of those written out. A
    script that has its functions compiled is left as it is."""
    if _NARROW.search(text) and not equals.COMPILED.search(text):
        _Marks().visit(tree)


class _Marks(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        known = _OPERATORS.get(type(node.op))
        if known is None or all(isinstance(part, ast.Constant | ast.JoinedStr) for part in (node.left, node.right)):
            return node
        name = ast.copy_location(ast.Name(id=known[0], ctx=ast.Load()), node)
        return ast.copy_location(ast.Call(func=name, args=[node.left, node.right], keywords=[]), node)


class Wrapped:
    """Told of the arithmetic of a script that is marked: of tables of such numbers it is done once more with room for what comes out."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._kept: dict[tuple[Place, str], WrapFacts] = {}

    def attach(self) -> None:
        """Listen."""
        for name, _ in _OPERATORS.values():
            self._session.patches.replace(builtins, name, self._wrap)

    def _wrap(self, original: Any) -> Any:
        session = self._session

        def computed(left: Any, right: Any) -> Any:
            made = original(left, right)
            if _NARROW.search(str(getattr(made, "dtype", ""))) and len(getattr(made, "shape", ())) > 1 and session.active:
                session.safely("bytes", self._look, original, left, right, made)
            return made

        return computed

    def _look(self, original: Any, left: Any, right: Any, made: Any) -> None:
        place = self._session.sites.direct()
        sign = _SIGNS[original.__name__]
        facts = self._kept.get((place, sign)) if place is not None else None
        if place is None or (facts is None and len(self._kept) >= _LINES) or (facts is not None and facts.calls >= _CALLS):
            return
        rows = len(made) * _LARGEST // max(_LARGEST, math.prod(made.shape))  # of a large table the first ones
        if rows < 1:
            return
        with self._session.paused():
            first = [part[:rows] if tuple(getattr(part, "shape", ())) == tuple(made.shape) else part for part in (left, right, made)]
            plain = [np.asarray(part if array is None else array) for part in first for array in (tensors.array(part),)]
            found, sides = plain[2], [side.astype(np.int64) for side in plain[:2]]
        if found.size < _LEAST or np.broadcast_shapes(*(side.shape for side in sides)) != found.shape:
            return
        if facts is None:
            facts = self._kept[place, sign] = WrapFacts(sign=sign, dtype=found.dtype.name, site=site(place))
            self._session.observation.wraps.append(facts)
        facts.calls, facts.values = facts.calls + 1, facts.values + int(found.size)
        facts.wrapped += int((original(*sides) != found).sum())
