"""Generators that a script sets back to one seed between its steps: what is drawn for each of them is the same."""

from __future__ import annotations

import functools
import itertools
import random
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch.sites import Place, Stack

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_LATER = {"torch": "manual_seed", "tensorflow": "random.set_seed"}
_MOST = 0.9  # of the steps


class Reseeded:
    """Wraps what seeds a generator: NumPy's `seed` and `default_rng`, Python's, PyTorch's and TensorFlow's."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._since: dict[Stack, Any] = {}  # by the script's lines, innermost first, the seed that was set there since the last step
        self._names: dict[Stack, str] = {}  # of the functions that were called there
        self._known: dict[Stack, tuple[Any, int]] = {}  # the seed that was set there first, and before how many steps it was the same
        self._around: set[tuple[str, str]] = set()  # files and functions that the steps are taken in
        self._steps = 0

    def attach(self) -> None:
        """Hook them, those of frameworks once they are there."""
        patches = self._session.patches
        for owner, name in ((np.random, "seed"), (np.random, "default_rng"), (random, "seed")):
            patches.replace(owner, name, self._wrap)
        for module, name in _LATER.items():
            self._session.when_imported(module, functools.partial(self._hook, name))

    def _hook(self, name: str, module: Any) -> None:
        within, _, last = name.rpartition(".")
        self._session.patches.replace(getattr(module, within) if within else module, last, self._wrap)

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self._session

        def seed(*args: Any, **kwargs: Any) -> Any:
            given = [value for value in (*args, *kwargs.values()) if isinstance(value, int) and not isinstance(value, bool)]
            # The frame that asks is looked at first: libraries seed generators of their own all the time.
            if given and session.active and session.sites.is_own(sys._getframe(1).f_code.co_filename):
                session.safely("a seed", self._seeded, given[0], original.__name__)
            return original(*args, **kwargs)

        return seed

    def _seeded(self, value: int, name: str) -> None:
        stack = self._session.sites.stack()
        self._since[stack], self._names[stack] = value, name

    def since_step(self, name: str) -> Stack:
        """The script's lines that have called the function of this name since the last step, the last time that it was."""
        return next((stack for stack in reversed(self._since) if self._names.get(stack) == name), ())

    def stepped(self) -> None:
        """A step is over."""
        self._steps += 1
        if not self._around:
            self._around = {(file, function) for file, _, function in self._session.sites.stack()}
        for place, value in self._since.items():
            first, count = self._known.get(place, (value, 0))
            self._known[place] = (first, count + (value == first))
        self._since = {}

    def place(self) -> tuple[Place, int] | None:
        """The line that sets the same seed before nearly every step, and the seed. Of a helper, where the function that steps calls it."""
        stack, value = next(((stack, value) for stack, (value, count) in self._known.items() if count >= _MOST * self._steps), ((), 0))
        inside = [place for place in stack if (place[0], place[2]) in self._around]
        return ((inside or list(stack))[0], value) if stack else None


def same(batches: list[list[np.ndarray[Any, Any]]]) -> int:
    """How many of the steps got the very arrays, by value, that the step before them got; `batches`: those of each step."""
    return sum(_equal(one, other) for one, other in itertools.pairwise(batches))


def _equal(ones: list[np.ndarray[Any, Any]], others: list[np.ndarray[Any, Any]]) -> bool:
    return bool(ones) and len(ones) == len(others) and all(
        one.shape == other.shape and np.array_equal(one, other) for one, other in zip(ones, others, strict=True))
