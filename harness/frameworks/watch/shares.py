"""Shares of rows, of which each replica is to read one: `rows[rank::replicas]`, `dataset.shard(replicas, rank)`, a `DistributedSampler`.

A slice cannot be hooked, so a function stands there while a script runs. Lines, tracebacks and the file are the script's own.
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.value_facts import ShareFacts
from harness.frameworks.watch import equals, parsed, tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

NAME = "__slice_in_watched_script__"
_LINES, _CALLS, _MOST, _READ = 8, 200, 64, 4096  # lines, calls of each, replicas, and numbers of rows
_LOOPS = (ast.For, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)


def _sliced(whole: Any, first: Any, last: Any, step: Any, _number: int) -> Any:
    return whole[first:last:step]


setattr(builtins, NAME, _sliced)


def mark(tree: ast.Module, text: str) -> None:
    """Puts `NAME(rows, first, last, step, number)` in the place of each `rows[first:last:step]` that is read in a script's `tree` and whose
    step is not written out; they are numbered. A script that has its functions compiled is left as it is."""
    if not equals.COMPILED.search(text):
        _Marks().visit(tree)


class _Marks(ast.NodeTransformer):
    def __init__(self) -> None:
        self._number = 0

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        cut = node.slice
        if not isinstance(node.ctx, ast.Load) or not isinstance(cut, ast.Slice) or cut.lower is None or cut.step is None or isinstance(
                cut.step, ast.Constant | ast.UnaryOp):
            return node
        name = ast.copy_location(ast.Name(id=NAME, ctx=ast.Load()), node)
        last = cut.upper or ast.copy_location(ast.Constant(value=None), node)
        self._number += 1
        number = ast.copy_location(ast.Constant(value=self._number), node)
        return ast.copy_location(ast.Call(func=name, args=[node.value, cut.lower, last, cut.step, number], keywords=[]), node)


def _itself(whole: Any) -> Any:
    return whole


class Shares:
    """Notes which share of which rows is taken by each slice or call before the training begins."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._taken: dict[tuple[Place, int], list[tuple[str, int, int]]] = {}  # which rows, of how many, which one
        self._rows: list[Callable[[], Any]] = []  # what was cut; lists are kept, so that no other comes to have their number
        self._facts: dict[tuple[Place, int], ShareFacts] = {}

    def attach(self) -> None:
        """Listen to slices."""
        self._session.patches.replace(builtins, NAME, self._wrap)

    def _wrap(self, original: Any) -> Any:
        session = self._session

        def sliced(whole: Any, first: Any, last: Any, step: Any, number: int) -> Any:
            made = original(whole, first, last, step, number)
            if last is None and session.active and not session.observation.steps:
                session.safely("a share of rows", self._took, whole, step, first, number)
            return made

        return sliced

    def heard(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        """One of the functions that take shares was called."""
        if self._session.observation.steps:
            return
        name = getattr(function, "__name__", "")
        own = getattr(function, "__self__", None)
        named = dict(zip({"shard": ("num_shards", "index"), "DistributedSampler": ("dataset", "num_replicas", "rank"),
                          "split_dataset_by_node": ("dataset", "rank", "world_size")}.get(name, ()), args, strict=False)) | kwargs
        whole = named.get("dataset", own)
        shares, number = (next((named[key] for key in keys if key in named), None)
                          for keys in (("num_shards", "num_replicas", "world_size"), ("index", "rank")))
        if whole is not None:
            self._took(whole, shares, number)

    def _took(self, whole: Any, shares: Any, number: Any, written: int = 0) -> None:
        """`written`: which of the slices of a script it is."""
        line = self._session.sites.direct()
        place = (line, written) if line is not None else None
        if line is None or place is None or not all(isinstance(part, int) and not isinstance(part, bool) for part in (shares, number)):
            return
        if not 1 < shares <= _MOST or not 0 <= number < shares or (place not in self._taken and len(self._taken) >= _LINES):
            return
        taken = self._taken.setdefault(place, [])
        if len(taken) >= _CALLS:
            return
        taken.append((self._known(whole), shares, number))
        if place not in self._facts:
            facts = self._facts[place] = ShareFacts(shares=shares, site=site(line), looped=site(self._loop()))
            self._session.observation.shares.append(facts)
        of_one = max((sum(known == other for other in taken) for known in taken), default=0)
        facts = self._facts[place]
        facts.calls, facts.same, facts.shares, facts.number = len(taken), of_one, shares, number

    def _known(self, whole: Any) -> str:
        """By what rows are known again: themselves, or the numbers that they are, for these may be written anew for each replica."""
        plain = tensors.array(whole) if tensors.is_tensor(whole) or isinstance(whole, np.ndarray) else whole
        if isinstance(plain, range | list | np.ndarray) and len(plain) > 0 and isinstance(plain[0], int | np.integer):
            return hashlib.sha256(np.asarray(plain[:_READ], dtype=np.int64).tobytes()).hexdigest() + f" {len(plain)}"
        number = next((number for number, known in enumerate(self._rows) if known() is whole), len(self._rows))
        if number == len(self._rows):
            if number >= _MOST:
                return "one of many"
            try:
                self._rows.append(weakref.ref(whole))
            except TypeError:
                self._rows.append(functools.partial(_itself, whole))
        return str(number)

    def _loop(self) -> Place | None:
        """The innermost own line that stands in a loop."""
        for place in self._session.sites.stack():
            for node in ast.walk(parsed.tree(place[0])):
                if isinstance(node, _LOOPS) and node.lineno <= place[1] <= (node.end_lineno or node.lineno):
                    return place
        return None
