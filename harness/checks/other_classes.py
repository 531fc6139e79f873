"""Classes that have other numbers in the evaluation than in the training."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.evaluation_facts import RelationFacts
from harness.checks.metric_facts import MetricFacts
from harness.checks.observation import Observation

_ROWS, _OF_A_CLASS = 40, 8
_SHARE, _CLEARLY, _GAIN = 0.6, 0.75, 0.3
_KNOWN = 0.7
_AGAIN = 2  # evaluations of one size
_FEWEST = 3  # classes that are predicted so far
_NEARLY, _MANY = 0.85, 4


class OtherClasses(Check):
    """The classes have other numbers in the evaluation than in the training.

    Ids were given twice, each time in the order in which the names came: what is 0 in the training is 2 in the evaluation. The model
    tells the classes apart, and its accuracy is that of a guess or worse.
    Source: scikit-learn docs, `LabelEncoder` (fit once, then `transform`).
    """

    code: ClassVar[str] = "E511"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501", "E505")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from which class is predicted for which: an exchange of classes explains nearly all answers, and the ids hardly any."""
        known = [call for call in (*seen.evaluation.metrics, *seen.evaluation.compared) if _rows(call) >= _ROWS]
        if not known:
            raise NotJudged("no evaluation of at least 40 rows was seen, class by class")
        relation = seen.evaluation.relation
        learnt = _learnt(relation) if relation is not None and relation.classes else reading.script_learns(seen)
        if not learnt or reading.several_models(seen):
            return None
        last, exchanged = next(((call, found) for call in reversed(known) if (found := _exchange(call)) is not None), (None, None))
        if last is None or exchanged is None:
            return None
        told = [call for call in known if _right(call) >= _CLEARLY]
        alike = [call for call in known if _rows(call) == _rows(last)]
        # Beside an evaluation that comes again and again another part, the training's own for one, may be told very well.
        besides = told and (len(alike) < _AGAIN or len(told) > 1 or told[0] in alike)
        judged = [(reference, predicted, rows) for reference, predicted, rows in last.pairs if reference in exchanged]
        total = sum(rows for *_, rows in judged)
        through = sum(rows for reference, predicted, rows in judged if exchanged[reference] == predicted) / total
        right = sum(rows for reference, predicted, rows in judged if reference == predicted) / total
        if through < _CLEARLY or through - right < _GAIN:
            return None
        # So many classes that nearly all of them are taken for one other each have no such order by chance.
        if besides and (through < _NEARLY or sum(reference != predicted for reference, predicted in exchanged.items()) < _MANY):
            return None
        moved = ", ".join(f"{reference} as {predicted}" for reference, predicted in sorted(exchanged.items()) if reference != predicted)
        return Finding(
            message=f"The classes have other numbers in the evaluation: {100 * right:.0f} % of {total} answers are right as they "
                    f"stand, and {100 * through:.0f} % with the classes exchanged.",
            remedy="Give the ids once, for all parts: `ids = {name: i for i, name in enumerate(sorted(set(names)))}` before the split, or "
                   "`encoder.fit(train_names)` and then `encoder.transform(...)` for each part.",
            site=reading.place(seen, "adapted_again") or sourcing.line(seen, "numbered", "made") or sourcing.line(seen, "labels", "called")
            or sourcing.line(seen, "labels", "made") or last.site or reading.place(seen, "evaluation"),
            evidence=[f"predicted in the evaluation: {moved}"])


def _learnt(relation: RelationFacts) -> bool:
    """Whether the answers in the training came to fit: counted over its steps, of which the first ones knew nothing."""
    return relation.trained >= _KNOWN or relation.trained - relation.trained_majority >= _GAIN


def _rows(call: MetricFacts) -> int:
    return sum(rows for *_, rows in call.pairs)


def _right(call: MetricFacts) -> float:
    return sum(rows for reference, predicted, rows in call.pairs if reference == predicted) / max(1, _rows(call))


def _exchange(call: MetricFacts) -> dict[int, int] | None:
    """The class that is mostly predicted for each, where these are the same classes in another order; else None.

    Classes that are not predicted so far say nothing: each of the others has to be predicted for one class, and for most of its rows.
    """
    of_reference, of_predicted = _counted(call.pairs, 0), _counted(call.pairs, 1)
    mostly = {reference: rows.most_common(1)[0] for reference, rows in of_reference.items()}
    clear = [reference for reference, (predicted, rows) in mostly.items()
             if rows >= _SHARE * of_reference[reference].total() and of_reference[reference].total() >= _OF_A_CLASS]
    exchanged = {reference: predicted for reference, (predicted, _) in mostly.items()}
    moved = [reference for reference, predicted in exchanged.items() if predicted != reference]
    if sorted(exchanged) != sorted(exchanged.values()) or not set(moved) <= set(clear):
        exchanged = {reference: exchanged[reference] for reference in clear
                     if mostly[reference][1] >= _SHARE * of_predicted[exchanged[reference]].total()}
        if len(exchanged) < max(_FEWEST, len(of_predicted) - 1):
            return None
    return exchanged if sum(reference != predicted for reference, predicted in exchanged.items()) > 1 else None


def _counted(pairs: list[tuple[int, int, int]], by: int) -> dict[int, Counter[int]]:
    """Rows of each class by what stands on the other side of the pair; `by`: 0 of each reference, 1 of each prediction."""
    counted: dict[int, Counter[int]] = {}
    for pair in pairs:
        counted.setdefault(pair[by], Counter())[pair[1 - by]] += pair[2]
    return counted
