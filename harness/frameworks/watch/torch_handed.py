"""Which part of a batch a model gets as which of its arguments: in its training steps, and where it is evaluated."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from harness.checks.evaluation_facts import HandedFacts
from harness.frameworks.watch import parsed, tensors, torch_batches
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall

_LOOKED = 20


class Handed:
    """Told of calls. What is one thing in one step and another in the next, as pairs that change sides at random, is given up."""

    def __init__(self) -> None:
        self._ways: dict[bool, dict[str, str] | None] = {}
        self._kinds: dict[bool, type] = {}
        self._looked = {True: 0, False: 0}
        self._first: RootCall | None = None

    def trained(self, call: RootCall) -> None:
        """A model was trained on parts of a loader's batch."""
        self._saw(call, trains=True)

    def held(self, call: RootCall) -> None:
        """A model answers to such parts in an evaluation."""
        self._saw(call, trains=False)

    def _saw(self, call: RootCall, *, trains: bool) -> None:
        if call.batch is None or self._looked[trains] >= _LOOKED:
            return
        columns = {id(value): name for name, value in torch_batches.columns_of(call.batch).items() if tensors.is_tensor(value)}
        way = {name: columns[id(value)] for name, value in torch_batches.named(call.module, call.args, call.kwargs).items()
               if id(value) in columns}
        self._looked[trains] += 1
        if self._ways.setdefault(trains, way) != way:
            self._ways[trains] = None
        self._kinds[trains] = type(call.module)
        if trains and self._first is None:
            self._first = call

    def facts(self) -> HandedFacts | None:
        """Where the same parts go to the same arguments, but not each to its own."""
        trained, held = self._ways.get(True), self._ways.get(False)
        if not trained or not held or trained == held or self._kinds[True] is not self._kinds[False]:
            return None
        if set(trained) != set(held) or set(trained.values()) != set(held.values()):
            return None
        return HandedFacts(trained=trained, held=held, site=site(_unpacked(self._first.place)) if self._first is not None else None)


def _unpacked(place: Place | None) -> Place | None:
    """The line of the loop around a place that takes batches apart, where there is one."""
    loops = [loop for loop in ast.walk(parsed.tree(place[0])) if isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple)
             and loop.lineno <= place[1] <= (loop.end_lineno or 0)] if place is not None else []
    inner = max(loops, key=lambda loop: loop.lineno, default=None)
    return (place[0], inner.lineno, place[2]) if inner is not None and place is not None else place
