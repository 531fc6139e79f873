"""Comparisons of a model's answers with references in NumPy: `np.mean((predictions - targets) ** 2)`, `np.mean(classes == labels)`.

Arithmetic on arrays cannot be watched, its average can: what is averaged is recognised by the arrays that the caller's names stand for.
Of `==` both sides are known where the script's tree was marked (`equals`).
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.metric_facts import DecisionFacts
from harness.frameworks.watch import equals
from harness.frameworks.watch.sites import names_of

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_AVERAGES = ("mean", "sum", "average", "median")
_LEAST, _ROWS, _NAMES, _CALLS, _CORNER = 12, 100_000, 40, 200, 24

Array = np.ndarray[Any, Any]


class NumpyComparisons:
    """Hooks the functions that average."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._calls = 0
        self._originals: dict[str, Any] = {}
        self._told: Callable[[], Any] = lambda: None  # what was compared last, and told

    def attach(self) -> None:
        """Hook them."""
        self._originals = {name: getattr(np, name) for name in _AVERAGES}
        for name in _AVERAGES:
            self._session.patches.replace(np, name, self._wrap)
        self._session.when_imported("numba", self._unhook)
        equals.hook(self._session.patches.replace, self._wrap_equal)

    def _unhook(self, _: Any) -> None:
        """What numba compiles has to find NumPy's own functions."""
        for name, original in self._originals.items():
            setattr(np, name, original)

    def _wrap_equal(self, original: Any) -> Any:
        session = self._session

        def equal(left: Any, right: Any) -> Any:
            made = original(left, right)
            if type(made) is np.ndarray and made.size >= _LEAST and session.active and self._calls < _CALLS and session.answered.any:
                self._calls += 1
                session.safely("a comparison in NumPy", self._equal, made, left, right)
            return made

        return equal

    def _equal(self, made: Array, left: Any, right: Any) -> None:
        """Of one dimension, and not of all pairs."""
        sides = [np.asarray(side) for side in (left, right)]
        if made.ndim != 1 or len(made) > _ROWS or any(side.shape != made.shape or side.dtype.kind not in "iufb" for side in sides):
            return
        answered = [self._session.answered.gave_these(side) for side in sides]
        if answered[0] is not answered[1]:
            self._told = weakref.ref(made)
            self._session.compared(*(sides if answered[0] else reversed(sides)))

    def _wrap(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def average(*args: Any, **kwargs: Any) -> Any:
            value = args[0] if args else kwargs.get("a")
            if type(value) is np.ndarray and value.size >= _LEAST and session.active and self._calls < _CALLS:
                caller = sys._getframe(1)
                if value is not self._told() and session.sites.is_own(caller.f_code.co_filename) and session.answered.any:
                    self._calls += 1
                    session.safely("a comparison in NumPy", self._look, caller, value)
            return original(*args, **kwargs)

        return average

    def _look(self, caller: FrameType, value: Array) -> None:
        rows, table = len(value), value.ndim == 2 and value.shape[0] == value.shape[1]
        if rows < _LEAST or rows > _ROWS or value.ndim > 2 or value.dtype.kind not in "fb" or (value.ndim == 2 and not table
                                                                                               and value.shape[1] != 1):
            return
        known = [part for part in names_of(caller).values() if type(part) is np.ndarray and part.dtype.kind in "iufb"
                 and len(part.shape) in (1, 2) and part.size == rows][-_NAMES:]
        answers = [part for part in known if self._session.answered.gave_these(part)] + self._session.answered.single(rows)
        for answer in answers:
            for reference in known:
                if reference is answer or self._session.answered.gave_these(reference):
                    continue
                if table and {answer.ndim, reference.ndim} == {1, 2} and _made_of(value, answer, reference):
                    self._pairs(answer)
                    return
                if not table and _made_of(value.reshape(-1), answer.reshape(-1), reference.reshape(-1)):
                    self._session.compared(answer.reshape(-1), reference.reshape(-1))
                    return

    def _pairs(self, answer: Array) -> None:
        plain: Array = answer.astype(np.float64)
        self._session.observation.evaluation.decisions.append(DecisionFacts(
            how="pairs", values=plain.size, minimum=float(plain.min()), maximum=float(plain.max()), site=self._session.sites.here()))


def _made_of(value: Array, answer: Array, reference: Array) -> bool:
    """Whether an array is the difference of two others, its size or its square, or whether they are equal; of a table of all pairs a
    corner is looked at."""
    if value.ndim == 2:
        value = value[:_CORNER, :_CORNER]
        answer, reference = (part[:_CORNER] for part in (answer, reference))
    with np.errstate(all="ignore"):
        return any(made.shape == value.shape and bool(np.allclose(made, value, rtol=1e-4, atol=1e-7 * float(np.abs(value).max())))
                   for made in _comparisons(value.dtype.kind, answer, reference))


def _comparisons(kind: str, answer: Array, reference: Array) -> Iterator[Array]:
    if kind == "b":
        yield answer == reference
        yield answer != reference
        return
    difference = answer.astype(np.float64) - reference.astype(np.float64)
    yield from (difference, -difference, np.abs(difference), difference**2)
