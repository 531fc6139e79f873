"""A script's own metric, asked again about other answers and references than it was given: what it says of them tells what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.metric_facts import MetricFacts, RightFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import full_marks, trainer_cuts, written
from harness.frameworks.watch.alignment import Alignment
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.torch_batches import IGNORED
from harness.frameworks.watch.torch_evaluation import numbers
from harness.frameworks.watch.torch_state import silent

_ARRAYS = 4  # that a model gives and that are exchanged
_LARGEST = 1 << 28  # bytes of scores that are copied to ask a metric again
_HELD = 1 << 26  # bytes of scores from which on it is asked what they are kept for
_ROWS = 16  # that this is asked with


class AskedMetrics:
    """Told of each call of a metric, `mine`, which takes one thing: an `EvalPrediction` of a Trainer, or a pair of answers and references
    (`KerasMetricCallback`). Answers are arrays, or a tuple of arrays of which the first has the scores."""

    def __init__(self, session: WatchSession, seen: Observation, alignment: Alignment | None = None) -> None:
        self._session, self._seen, self._alignment = session, seen, alignment
        self._known: dict[Any, RightFacts] = {}  # what functions say of a model that is always right

    def answered(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """The metric has said what is in `facts`."""
        facts.function = self._written(mine) if facts.cut is not None else None
        for ask in (self._again, self._one_place_on, self._longer, self._exchanged, self._ranked, self._cut, self._right):
            self._session.safely("compute_metrics", ask, facts, mine, prediction)

    def raised(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """The metric has raised."""
        self._session.safely("compute_metrics", self._otherwise, facts, mine, prediction)

    def _asked(self, mine: Any, prediction: Any) -> Any:
        """What the script's metric says of something else; no part of the record."""
        metrics = self._seen.evaluation.metrics
        before = len(metrics)
        try:
            with self._session.paused(), silent():
                return mine(prediction)
        finally:
            del metrics[before:]

    def _otherwise(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric would not have raised at: one of several arrays, or class ids."""
        given, labels = _parts(prediction)
        several = isinstance(given, tuple) and len(given) > 0
        first = given[0] if several else given
        tried: list[tuple[Any, Any]] = [("first", first)] if several else []
        if getattr(first, "ndim", 0) > 1 and first.dtype.kind == "f":
            tried.append(("first classes" if several else "classes", first.argmax(-1)))
        for name, changed in tried:
            try:
                values = self._asked(mine, _like(prediction, predictions=changed, label_ids=labels))
            except Exception:  # noqa: BLE001, S112 - it is another fault, then
                continue
            if isinstance(values, dict):
                facts.works = name
                return

    def _again(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says of predictions that have the labels' shape, where only an axis of length one keeps them from it."""
        given, labels = _parts(prediction)
        shapes = getattr(given, "shape", None), getattr(labels, "shape", None)
        if None in shapes or shapes[0] == shapes[1] or given.size != labels.size or given.size < 2:
            return
        values = self._asked(mine, _like(prediction, predictions=given.reshape(labels.shape), label_ids=labels))
        if isinstance(values, dict):
            facts.reshaped = numbers(values)
            facts.function = self._written(mine)

    def _one_place_on(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says where each answer stands beside the reference that follows the one it stands beside."""
        given, labels = _parts(prediction)
        answers, alignment = given[0] if isinstance(given, tuple) and given else given, self._alignment
        if alignment is None or getattr(answers, "ndim", 0) < 2 or getattr(labels, "ndim", 0) != 2 or answers.shape[:2] != labels.shape:
            return

        def values() -> tuple[dict[str, float], dict[str, float]]:
            moved = answers[:, :-1]
            moved = (moved, *given[1:]) if isinstance(given, tuple) else moved
            found = self._asked(mine, _like(prediction, predictions=moved, label_ids=labels[:, 1:]))
            return facts.values, numbers(found) if isinstance(found, dict) else {}

        alignment.compared(answers, labels, self._written(mine) or facts.site, values)

    def _exchanged(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says where the array whose largest scores are the labels stands in another one's place."""
        given, labels = _parts(prediction)
        if not isinstance(given, tuple) or not 1 < len(given) <= _ARRAYS or getattr(labels, "dtype", None) is None:
            return
        right = [_agreeing(part, labels) for part in given]
        best = max(range(len(given)), key=right.__getitem__)
        for other in (number for number in range(len(given)) if number != best and hasattr(given[number], "shape")):
            changed = list(given)
            changed[best], changed[other] = given[other], given[best]
            try:
                values = self._asked(mine, _like(prediction, predictions=tuple(changed), label_ids=labels))
            except Exception:  # noqa: BLE001, S112 - what it cannot take is no array of answers
                continue
            found = numbers(values) if isinstance(values, dict) else {}
            if sum(found.values()) > sum(facts.exchanged.values()):
                facts.function = self._written(mine)
                facts.exchanged, facts.arrays = found, [list(given[other].shape), list(given[best].shape)]

    def _longer(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says of rows that have more places which are to be left out, with the answers of others there."""
        given, labels = _parts(prediction)
        scores = given[0] if isinstance(given, tuple) and given else given
        if getattr(scores, "ndim", 0) != 3 or getattr(labels, "ndim", 0) != 2 or scores.shape[:2] != labels.shape:
            return
        left_out = labels == IGNORED
        facts.left_out = float(left_out.mean())
        if not 0 < facts.left_out < 1 or scores.nbytes > _LARGEST:
            return
        more = np.concatenate([scores, scores], axis=1)
        values = self._asked(mine, _like(prediction, predictions=(more, *given[1:]) if isinstance(given, tuple) else more,
                                                    label_ids=np.concatenate([labels, np.full_like(labels, IGNORED)], axis=1)))
        if isinstance(values, dict):
            facts.longer = numbers(values)
            facts.counted = self._compares(mine)

    def _ranked(self, _facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """Whether the script's metric takes scores for nothing but which is the largest: with all others in reverse order it says the same,
        of its labels and of those that come second."""
        (given, labels), memory = _parts(prediction), self._seen.memory
        scores = given[0] if isinstance(given, tuple) and given else given
        if getattr(scores, "ndim", 0) < 2 or scores.dtype.kind != "f" or scores.nbytes <= max(_HELD, memory.scores_kept):
            return
        if getattr(labels, "shape", None) != scores.shape[:-1]:
            return
        some, theirs = scores[:_ROWS], labels[:_ROWS]
        best = some.argmax(-1)[..., None]
        bare = -some
        np.put_along_axis(bare, best, bare.max(-1, keepdims=True) + 1, axis=-1)
        second = np.where(theirs == IGNORED, theirs, bare.argmin(-1))
        rest = [part[:_ROWS] for part in given[1:]] if isinstance(given, tuple) else []
        for asked in (theirs, second):
            said = [self._asked(mine, _like(prediction, predictions=(tried, *rest) if isinstance(given, tuple) else tried, label_ids=asked))
                    for tried in (some, bare)]
            if not all(isinstance(values, dict) for values in said) or not numbers(said[0]) or numbers(said[0]) != numbers(said[1]):
                return
        memory.scores_kept, memory.classes = int(scores.nbytes), int(scores.shape[-1])

    def _cut(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """Whether the script's metric takes raw scores for probabilities and cuts them at one half."""
        decisions = self._seen.evaluation.decisions
        found = None if decisions else trainer_cuts.at_half(
            lambda tried, wanted: self._asked(mine, _like(prediction, predictions=tried, label_ids=wanted)), *_parts(prediction))
        if found is not None:
            found.site = self._compares(mine) or self._written(mine) or facts.site
            decisions.append(found)

    def _right(self, facts: MetricFacts, mine: Any, prediction: Any) -> None:
        """What the script's metric says of a model that is always right."""
        given, labels = _parts(prediction)
        scores, code = given[0] if isinstance(given, tuple) and given else given, getattr(mine, "__code__", mine)
        if code in self._known or getattr(scores, "nbytes", _LARGEST) >= _LARGEST:
            facts.right = self._known.get(code)
            return

        def ask(made: Any, wanted: Any) -> dict[str, float]:
            values = self._asked(mine, _like(prediction, predictions=(made, *given[1:]) if isinstance(given, tuple) else made,
                                             label_ids=wanted))
            return numbers(values) if isinstance(values, dict) else {}

        facts.right = full_marks.measure(ask, scores, labels)
        if facts.right is not None:
            self._known[code] = facts.right
            facts.right.site = site(full_marks.taken(code, self._session.sites)) or self._compares(mine) or self._written(mine)

    def _compares(self, function: Any) -> Site | None:
        """Where a function compares something, if it does."""
        code = getattr(function, "__code__", None)
        return site(written.compared(code, self._session.sites)) if code is not None else None

    def _written(self, function: Any) -> Site | None:
        """Where the script defines a function, if it does."""
        code = getattr(function, "__code__", None)
        if code is None or not self._session.sites.is_own(code.co_filename):
            return None
        return site((code.co_filename, code.co_firstlineno, code.co_name))


def _parts(prediction: Any) -> tuple[Any, Any]:
    """Answers and references."""
    if isinstance(prediction, tuple):
        return prediction[0], prediction[1]
    return prediction.predictions, prediction.label_ids


def _like(prediction: Any, predictions: Any, label_ids: Any) -> Any:
    """Others, in the form in which a metric gets them."""
    if isinstance(prediction, tuple):
        return predictions, label_ids
    return type(prediction)(predictions=predictions, label_ids=label_ids)


def _agreeing(scores: Any, labels: Any) -> float:
    """The share of labels (int[rows] or [rows, tokens]) that the largest scores along a further, last axis give."""
    fits = getattr(scores, "ndim", 0) == getattr(labels, "ndim", -1) + 1 and scores.shape[:-1] == labels.shape and scores.dtype.kind == "f"
    return float((scores.argmax(-1) == labels).mean()) if fits and labels.size else -1.0
