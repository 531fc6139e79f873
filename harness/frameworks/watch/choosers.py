"""What chooses columns by their labels, objects of scikit-learn and rankings of a script's own: on which rows they did, and which of these
judge a model afterwards."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.evaluation_facts import ChosenFacts
from harness.frameworks.watch import own_choices, tensors
from harness.frameworks.watch.encoders import rows_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_KINDS = ("SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect", "RFE", "RFECV",
          "SelectFromModel", "SequentialFeatureSelector")
_LARGEST, _MOST_ROWS, _LEAST, _FOLDS, _MOST = 1 << 24, 20_000, 10, 5, 16
_SECONDS = 1.0  # that the choice itself may take, so that it can be made again for each fold


@dataclass
class _Choice:
    """What one `fit` was given, and the keys of its rows as they are after it; `others`: rows that it was applied to besides."""

    chooser: Any
    given: Any
    labels: Any
    seconds: float
    place: Place | None
    rows: set[bytes]
    others: set[bytes] = field(default_factory=set)


class Choosers:
    """Told of the rows that a model is trained and evaluated on, and of rows that are encoded on the way there."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._choices: dict[int, _Choice] = {}
        self._origins: dict[bytes, bytes] = {}  # of a row that was encoded further: the one that a choice made
        self._trained: set[bytes] = set()
        self._held: set[bytes] = set()
        self._times = 0
        self._own: own_choices.OwnChoice | None = None

    def attach(self) -> None:
        """Hook the choosers of scikit-learn."""
        self._session.when_imported("sklearn.feature_selection", self._hook)

    def _hook(self, module: Any) -> None:
        for name in _KINDS:
            if hasattr(module, name):
                self._session.patches.replace(getattr(module, name), "fit", self._wrap_fit)
                self._session.patches.replace(getattr(module, name), "transform", self._wrap_transform)

    def _wrap_fit(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def fit(chooser: Any, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: N803
            begun = time.perf_counter()
            made = original(chooser, X, y, *args, **kwargs)
            if session.active:
                session.safely("a choice of columns", self._chosen, chooser, X, y, time.perf_counter() - begun)
            return made

        return fit

    def _chosen(self, chooser: Any, given: Any, labels: Any, seconds: float) -> None:
        table, wanted = np.asarray(given), np.ravel(np.asarray(labels))
        if len(self._choices) >= _MOST and id(chooser) not in self._choices:
            return  # a search over many of them
        if table.ndim != 2 or table.size > _LARGEST or table.dtype.kind not in "iuf" or len(wanted) != len(table):
            return
        place = self._session.sites.decided(value=labels)
        with self._session.paused(), warnings.catch_warnings(action="ignore"):
            rows = set(rows_of(chooser.transform(given)))
        self._choices[id(chooser)] = _Choice(chooser, table, wanted, seconds, place, rows)

    def _wrap_transform(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def transform(chooser: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(chooser, *args, **kwargs)
            if session.active and id(chooser) in self._choices:
                session.safely("a choice of columns", self._applied, self._choices[id(chooser)], made)
            return made

        return transform

    def _applied(self, choice: _Choice, made: Any) -> None:
        if len(choice.others) < _MOST_ROWS:
            choice.others |= set(rows_of(made)) - choice.rows

    def encoded(self, given: Any, made: Any) -> None:
        """Rows were encoded: what became of those that were chosen."""
        if not self._choices or len(self._origins) > _MOST_ROWS:
            return
        chosen = set().union(*(choice.rows for choice in self._choices.values()))
        for before, after in zip(rows_of(given), rows_of(made), strict=False):
            if before in chosen:
                self._origins[after] = before

    def named(self, frames: Iterable[FrameType]) -> None:
        """A training is about to begin, with these frames of the script's own."""
        if not self._choices and self._own is None:
            self._own = own_choices.find(frames, self._session.script)

    def trained(self, given: Sequence[Any]) -> None:
        """A training step runs a model on these."""
        known = self._known(given)
        self._trained |= known
        self._times += len(known)

    def held(self, given: Sequence[Any]) -> None:
        """An evaluation does."""
        if self._trained:
            self._held |= self._known(given) - self._trained

    def _known(self, given: Sequence[Any]) -> set[bytes]:
        if not self._choices and self._own is None:
            return set()
        arrays = (array for value in given if (array := tensors.array(value)) is not None and array.ndim == 2)
        return {self._origins.get(row, row) for array in arrays for row in rows_of(array)}

    def facts(self) -> ChosenFacts | None:
        """Of the choice whose rows judge; None where there is none, or where not all rows of the training have come twice: one that has not
        come yet may be asked about as well."""
        if self._times < 2 * len(self._trained):
            return None
        if self._own is not None:
            return self._of_own(self._own)
        for choice in self._choices.values():
            judging = self._held & choice.rows
            if len(judging) < _LEAST or len(choice.others) >= _LEAST or not self._trained & choice.rows:
                continue
            found = ChosenFacts(
                kind=type(choice.chooser).__name__, rows=len(choice.rows), judging=len(judging), columns=choice.given.shape[1],
                chosen=int(choice.chooser.get_support().sum()), site=site(choice.place))
            if choice.seconds <= _SECONDS:
                with self._session.paused(), warnings.catch_warnings(action="ignore"):
                    found.before, found.within = _compared(choice)
            return found
        return None


    def _of_own(self, own: own_choices.OwnChoice) -> ChosenFacts | None:
        """Where the table's rows are those of training and evaluation together, and no others."""
        rows = len(own.table)
        if len(self._held) < _LEAST or len(self._trained) < _LEAST or len(self._trained) + len(self._held) > rows:
            return None
        from sklearn.feature_selection import SelectKBest

        choice = _Choice(SelectKBest(k=len(own.picked)), own.table, own.labels, 0.0, own.place, set())
        found = ChosenFacts(kind="the script's own ranking", rows=rows, judging=len(self._held), columns=own.table.shape[1],
                            chosen=len(own.picked), site=site(own.place))
        with self._session.paused(), warnings.catch_warnings(action="ignore"):
            found.before, found.within = _compared(choice, own.picked)
        return found


def _compared(choice: _Choice, picked: Any = None) -> tuple[float, float]:
    """What a plain model says of rows that it was not fitted on: with the columns of this choice, and with a choice made anew on the rows
    that it is fitted on. Accuracy of classes, R² of numbers."""
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    continuous = choice.labels.dtype.kind == "f" and bool((choice.labels != np.floor(choice.labels)).any())
    model = Ridge() if continuous else LogisticRegression(max_iter=300)
    before = make_pipeline(StandardScaler(), clone(model))
    within = make_pipeline(clone(choice.chooser), StandardScaler(), clone(model))
    scored = [cross_val_score(pipeline, table, choice.labels, cv=_FOLDS).mean() for pipeline, table in (
        (before, choice.given[:, choice.chooser.get_support() if picked is None else picked]), (within, choice.given))]
    return float(scored[0]), float(scored[1])
