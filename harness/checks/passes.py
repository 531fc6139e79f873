"""Answers of a model and the labels that they are held against: whether both come in one order."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_ROWS = 100


class TwoPasses(Check):
    """Predictions and labels come in two orders: what is evaluated is shuffled anew in each pass.

    Every prediction is then held against the label of another row, and a good model scores like a guess.
    Sources: PyTorch docs, `DataLoader(shuffle=...)`; TensorFlow docs, `Dataset.shuffle(reshuffle_each_iteration=...)`.
    """

    code: ClassVar[str] = "E505"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges the order of the labels that answers were held against by the one in which the rows came that were answered."""
        found = seen.evaluation.passes
        if found is None:
            return self._moved(seen) or self._by_result(seen)
        keras = seen.framework in reading.KERAS
        # A dataset of Keras's is made in many steps; of a loader, the line that makes it is the one that shuffles.
        places = (found.labels, found.answers, found.loader) if keras else (found.loader, found.labels, found.answers)
        site = found.shuffled or next((place for place in places if place is not None), None)
        if keras:
            remedy = ("Do not shuffle what is evaluated (no `.shuffle(...)`, or `shuffle=False`), or take both out of one pass: "
                      "`for x, y in dataset: labels.append(y); predictions.append(model(x, training=False))`.")
        else:
            remedy = ("Do not shuffle what is evaluated, `DataLoader(..., shuffle=False)`, or take both out of one pass: "
                      "`for x, y in loader: labels.append(y); predictions.append(model(x))`.")
        evidence = [(f"places at which two passes have the same label: {found.same} of {found.rows} "
                    f"(two random orders of these labels: {found.chance * found.rows:.0f})")]
        evidence += [f"{name}: `{place.source}`" for name, place in (("predictions", found.answers), ("labels", found.labels))
                     if place is not None and place.source]
        return Finding(
            message="Predictions and labels do not come in one order: each pass over the data shuffles it anew, so that a prediction is "
                    "held against the label of another row.",
            remedy=remedy, site=site or reading.place(seen, "evaluation"), evidence=evidence)

    @staticmethod
    def _moved(seen: Observation) -> Finding | None:
        """Answers of a Trainer that come in another order than its dataset, of which the labels in that order were never looked at."""
        found = next((each for each in seen.evaluation.predicted if each.answers and not each.labels), None)
        if found is None:
            return None
        why = "`group_by_length` puts rows of like length together" if found.grouped else "its loader shuffles them"
        return Finding(
            message=f"`predict()` gives its {found.rows} answers in another order than the dataset has: {why}, and the labels in that "
                    "order, `label_ids`, are never looked at.",
            remedy=("Predict with a Trainer whose arguments leave `group_by_length` out" if found.grouped else
                    "Do not shuffle what is evaluated, `DataLoader(..., shuffle=False)`")
            + ", or hold the answers against `trainer.predict(dataset).label_ids`.",
            site=reading.place(seen, "training_arguments.group_by_length", "training_arguments.train_sampling_strategy") if found.grouped
            else found.loader or found.site,
            evidence=[f"the answers: `{found.site.source}`"] if found.site is not None else [])

    @staticmethod
    def _by_result(seen: Observation) -> Finding | None:
        """Answers that are right beside the labels that came with them, and a comparison of as many rows that is no better than chance."""
        relation = seen.evaluation.relation
        if relation is None or relation.compared is None or relation.rows < _ROWS or reading.several_models(seen):
            return None
        noise = math.sqrt((relation.majority * (1 - relation.majority) if relation.classes else 1.0) / relation.rows)
        chance = relation.majority + 3 * noise
        good = relation.majority + 0.5 * (1 - relation.majority)
        if relation.held < good or relation.compared > chance or (relation.compared < -chance and not relation.classes):
            return None
        what = "are right on {:.0%} of {} rows" if relation.classes else "correlate with them by {:.2f} over {} rows"
        result = f"{relation.compared:.0%}" if relation.classes else f"{relation.compared:.2f}"
        return Finding(
            message="Predictions and labels do not come in one order: held against the labels that came with them, the answers "
                    f"{what.format(relation.held, relation.rows)}; what the script compares gives {result}.",
            remedy="Do not shuffle what is evaluated, `DataLoader(..., shuffle=False)`, or take both out of one pass: "
                   "`for x, y in loader: labels.append(y); predictions.append(model(x))`. A Trainer's `group_by_length` moves rows as "
                   "well; `predict()` gives their labels back in the order of its predictions, as `label_ids`.",
            site=relation.loader or relation.place, evidence=[f"the comparison: `{relation.place.source}`"] if relation.place else [])
