"""Folds of scikit-learn's splitters: whether a model goes on in the next one with what it has learnt in those before."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.evaluation_facts import FoldFacts
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

# What tells weights from others: anything that can be compared.
Digest = Callable[[], Any]

_WEIGHTS = 8


class Folds:
    """Told where a model's training begins; asks what its weights are at the end of each fold."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._number = 0
        self._trained: dict[int, tuple[Any, Digest]] = {}  # in this fold
        self._ended: dict[int, tuple[Any, Any]] = {}  # in the fold before: the model, and what its weights were then
        self._fitted: set[int] = set()
        self._again = 0.0
        self._loop: Place | None = None

    def attach(self) -> None:
        """Hook the splitters when they are imported."""
        self._session.when_imported("sklearn.model_selection._split", self._hook)

    def _hook(self, module: Any) -> None:
        self._session.patches.replace(module.BaseCrossValidator, "split", self._wrap)

    def _wrap(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def split(splitter: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            for parts in original(splitter, *args, **kwargs):
                if session.active:
                    session.safely("a fold", self._begins, *parts)
                yield parts

        return split

    def _begins(self, fitted: Iterable[int], held: Iterable[int]) -> None:
        rows, asked = np.asarray(fitted).tolist(), np.asarray(held).tolist()
        self._ended = {key: (known, digest()) for key, (known, digest) in self._trained.items() if known() is not None}
        self._trained = {}
        self._again = sum(row in self._fitted for row in asked) / max(1, len(asked))
        self._fitted.update(rows)
        self._number += 1
        self._loop = self._session.sites.place()

    def trains(self, model: Any, weights: Callable[[], Iterable[Any]], made: Callable[[], Iterable[Place]]) -> None:
        """A training of a model begins or goes on. `weights`: its arrays, as they are when it is called; `made`: the lines that the model
        is made on, the innermost first."""
        if not self._number or id(model) in self._trained:
            return
        known: Any = weakref.ref(model)
        self._trained[id(model)] = known, lambda: [float(np.asarray(weight, np.float64).sum()) for weight in _first(weights())]
        before = self._ended.get(id(model))
        evaluation = self._session.observation.evaluation
        goes_on = before is not None and before[0]() is model and before[1] == self._trained[id(model)][1]()
        if goes_on and self._again and evaluation.folds is None:
            lines = list(made())
            beside = next((line for line in lines if self._loop is not None and line[2] == self._loop[2]), next(iter(lines), None))
            evaluation.folds = FoldFacts(fold=self._number, kind=type(model).__name__, again=self._again, site=site(beside))


def _first(weights: Iterable[Any]) -> list[Any]:
    return [weight for weight, _ in zip(weights, range(_WEIGHTS), strict=False)]
