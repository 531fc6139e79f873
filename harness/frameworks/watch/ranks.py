"""How well answers rank rows of two classes: those that are given to a metric, and the scores that they were cut from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.cut_ranks import RANKING
from harness.checks.metric_facts import RankFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.answered import Answered
    from harness.frameworks.watch.session import WatchSession

_MOST = 20
_TWO = 2  # yes and no

Array = np.ndarray[Any, Any]


def asked(session: WatchSession, name: str, predictions: Any, references: Any) -> None:
    """A metric was given these answers and references."""
    known = session.observation.evaluation.ranked
    if name in RANKING and predictions is not None and references is not None and len(known) < _MOST:
        known.append(RankFacts(name=name, rows=len(predictions), own=session.answered.gave_these(predictions),
                               areas=areas(session.answered, predictions, references), site=session.sites.here()))


def areas(answered: Answered, predictions: Any, references: Any) -> tuple[float, float] | None:
    """The area under the ROC curve by predictions of two values, and by the model's scores behind them; None where there are none, or the
    references are no yes and no."""
    if len(np.unique(references)) != _TWO:
        return None
    wanted, given = np.ravel(references), np.ravel(predictions)
    scores = answered.behind(given) if len(wanted) == len(given) else None
    if scores is None:
        return None
    yes = wanted == wanted.max()
    return _area(given.astype(np.float64), yes), _area(scores, yes)


def _area(scores: Array, yes: Array) -> float:
    """The share of pairs, one of each class, in which the one that is yes has the higher score; equal ones count half."""
    ranks = of(scores)
    positive = int(yes.sum())
    return float((ranks[yes].sum() - positive * (positive + 1) / 2) / (positive * (len(yes) - positive)))


def of(values: Array) -> Array:
    """Ranks from 1, float[rows]; equal values share the middle one of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Array = (np.cumsum(counts) - (counts - 1) / 2.0)[place.reshape(-1)]
    return ranks
