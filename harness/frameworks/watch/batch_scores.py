"""Scores that a script takes of each batch by itself, to average them, scikit-learn's and its own: what they say of all rows at once."""

from __future__ import annotations

import builtins
import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.metric_facts import BatchScoreFacts
from harness.frameworks.watch import own_scores, tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

# None of these is the mean of what it says of parts.
_SCORES = ("f1_score", "fbeta_score", "precision_score", "recall_score", "jaccard_score", "balanced_accuracy_score", "matthews_corrcoef",
           "cohen_kappa_score", "roc_auc_score", "average_precision_score", "r2_score")
_LEAST, _MOST, _ROWS, _FEW = 4, 256, 200_000, 5000

Array = np.ndarray[Any, Any]


@dataclass
class _Pass:
    """The calls of one score on one line since a model was trained last."""

    trained: int
    forwards: int
    answered: int
    references: list[Array] = field(default_factory=list)
    answers: list[Array] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


class BatchScores:
    """Told of the calls of scores; a pass is over where a model is trained again."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._passes: dict[tuple[Place, str], _Pass] = {}

    def attach(self) -> None:
        """Hook scikit-learn's, and listen to a script's own."""
        self._session.when_imported("sklearn.metrics", self._hook)
        self._session.patches.replace(builtins, own_scores.NAME, self._mark)

    def _hook(self, module: Any) -> None:
        for name in _SCORES:
            self._session.patches.replace(module, name, self._wrap)

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self._session

        @functools.wraps(original)
        def score(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if session.active and session.observation.steps and isinstance(made, float):
                session.safely("a score of a batch", self._scored, original, args, kwargs, made)
            return made

        return score

    def _scored(self, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], made: float) -> None:
        given = list(args)
        wanted = given.pop(0) if given else kwargs.get("y_true")
        answered = given.pop(0) if given else kwargs.get("y_pred", kwargs.get("y_score"))
        if given or kwargs.get("sample_weight") is not None:
            return
        sides = _plain(wanted), _plain(answered)
        if sides[0] is None or sides[1] is None or not math.isfinite(made):
            return
        rest = {name: value for name, value in kwargs.items() if name not in ("y_true", "y_pred", "y_score")}
        self._heard(original.__name__, (sides[0], sides[1]), made, lambda ours, theirs: original(ours, theirs, **rest))

    def _mark(self, _original: Any) -> Callable[..., Any]:
        def mark(function: Callable[..., Any]) -> Callable[..., Any]:
            return self._own(function)

        return mark

    def _own(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self._session

        @functools.wraps(original)
        def score(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if session.active and session.observation.steps:
                session.safely("a score of a batch", self._scored_by_itself, original, args, kwargs, made)
            return made

        return score

    def _scored_by_itself(self, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        for name, value in own_scores.named(original.__name__, made):
            call = own_scores.Call.of(original, args, kwargs, name)
            if call is not None and math.isfinite(value):
                self._heard(name, call.sides, value, call.again, original.__name__)

    def _heard(self, name: str, sides: tuple[Array, Array], made: float, again: Callable[[Array, Array], float], own: str = "") -> None:
        """`again(references, answers)`: the same score of any rows. `own`: the script's own function that gives it."""
        place = self._session.sites.direct()
        if place is None:
            return
        facts = self._session.observation.evaluation
        known = self._passes.get((place, name))
        if known is None or known.trained != facts.training_forwards:
            known = self._passes[place, name] = _Pass(facts.training_forwards, facts.forwards, self._session.answered.times)
        if len(known.values) >= _MOST or sum(map(len, known.references)) > _ROWS:
            return
        known.references.append(sides[0])
        known.answers.append(sides[1])
        known.values.append(made)
        with self._session.paused(), warnings.catch_warnings(action="ignore"):
            self._look(known, own_scores.handed_on(own, place) if own else place, name, again)

    def _look(self, known: _Pass, place: Place, name: str, again: Callable[[Array, Array], float]) -> None:
        """Batches of a loader: all of one size but for the last, and a model has run for each of them."""
        facts, sizes = self._session.observation.evaluation, list(map(len, known.references))
        ran = max(facts.forwards - known.forwards, self._session.answered.times - known.answered)
        if len(sizes) < _LEAST or len(set(sizes[:-1])) > 1 or sizes[-1] > sizes[0] or sizes[0] < 2 or ran < len(sizes) - 1:
            return
        if sum(sizes) > _FEW and len(sizes) & (len(sizes) - 1):
            return  # of many rows it is asked for now and then
        first = known.references[0], known.answers[0]
        if not math.isclose(again(*(np.concatenate([part, part]) for part in first)), known.values[0], abs_tol=1e-4):
            return  # rows that come twice are others' rivals to it, and it is no ratio of what is counted
        whole, mean = float(again(np.concatenate(known.references), np.concatenate(known.answers))), float(np.mean(known.values))
        told = facts.batch_scores
        if told is None or told.name == name or abs(mean - whole) > abs(told.mean - told.whole):
            facts.batch_scores = BatchScoreFacts(name=name, calls=len(sizes), rows=sum(sizes), mean=mean, whole=whole, site=site(place))


def _plain(value: Any) -> Array | None:
    found = np.asarray(value) if isinstance(value, list) else tensors.array(value)
    return found if found is not None and found.ndim in (1, 2) and len(found) else None
