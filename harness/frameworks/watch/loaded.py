"""Weights that are loaded, and drawn anew before a model runs with them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import RestoreFacts
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

Array = np.ndarray[Any, Any]
Stack = tuple[Place, ...]
_LEAST = 16  # numbers of a matrix that counts
_FIRST = 8  # numbers by which a drawing is known again
_DRAWN = 10_000


@dataclass
class _Load:
    """One loading. `stack`: the script's own frames, outermost first."""

    stack: Stack
    weights: dict[int, weakref.ref[Any]]


class Loaded:
    """Told of loadings, of draws, and of models that run. `first(weight, count)`: the first numbers of a tensor, None where it cannot be
    read. A weight is lost that holds, when a model first runs with it, numbers that were drawn after it was loaded."""

    def __init__(self, session: WatchSession, first: Callable[[Any, int], Array | None]) -> None:
        self._session = session
        self._first = first
        self._loads: list[_Load] = []
        self._drawn: dict[tuple[float, ...], Stack] = {}

    @property
    def waits(self) -> bool:
        """Whether there are loaded weights that no model has run with."""
        return bool(self._loads)

    def loaded(self, weights: Iterable[Any]) -> None:
        """These have just been loaded."""
        kept = [weight for weight in weights if len(weight.shape) > 1 and int(np.prod(tuple(weight.shape))) >= _LEAST]
        self._let_go(map(id, kept))
        stack = self._stack()
        if stack and kept:
            self._loads.append(_Load(stack, {id(weight): weakref.ref(weight) for weight in kept}))

    def drew(self, made: Any) -> None:
        """Numbers were drawn, into a tensor or as one."""
        print_ = self._print(made)
        if print_ is not None and len(self._drawn) < _DRAWN:
            self._drawn[print_] = self._stack()

    def runs(self, weights: Iterable[Any]) -> None:
        """A model is about to run with these."""
        held = set(map(id, weights))
        for load in self._loads:
            kept = [weight for number, kept in load.weights.items() if number in held and (weight := kept()) is not None]
            drawn = [self._drawn.get(self._print(weight) or ()) for weight in kept]
            lost = [stack for stack in drawn if stack is not None]
            if lost and len(lost) == len(drawn) and self._session.observation.restored is None:
                self._session.observation.restored = RestoreFacts(
                    how="redrawn", weights=len(lost), loaded=site(load.stack[-1]), site=site(_parted(load.stack, lost[-1])))
        self._let_go(held)

    def _print(self, tensor: Any) -> tuple[float, ...] | None:
        values = self._first(tensor, _FIRST)
        return None if values is None or len(values) < _FIRST or np.ptp(values) == 0 else tuple(map(float, values))

    def _let_go(self, held: Iterable[int]) -> None:
        gone = set(held)
        self._loads = [load for load in self._loads if not gone & load.weights.keys()]
        if not self._loads:
            self._drawn.clear()

    def _stack(self) -> Stack:
        return tuple(reversed(self._session.sites.stack()))


def _parted(first: Stack, second: Stack) -> Place:
    """Where the second of two stacks parts from the first, or the line of a constructor that is called there: it has drawn what it was
    given."""
    start = next((number for number, (one, other) in enumerate(zip(first, second, strict=False)) if one != other), len(second) - 1)
    while start + 1 < len(second) and second[start + 1][2].rpartition(".")[2] == "__init__":
        start += 1
    return second[start]
