"""A class that is trained on and answered with, and that is right nowhere in the evaluation."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import data_labels, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.metric_facts import MetricFacts
from harness.checks.observation import Observation

_PLACES = 400  # of an evaluation: by chance no class of such a share is missing in so many
_TRAINED, _ANSWERED = 0.1, 0.05


class AbsentClass(Check):
    """The model learns a class that is never right: what has no label is a class of its own in the training.

    Places nobody labelled need a number, often 0 or the last one, and without `ignore_index` that number is a class like the others. The
    model learns to answer with it wherever people did not look, and an evaluation whose references are complete counts every such answer as
    wrong. Source: PyTorch docs, `CrossEntropyLoss` (`ignore_index`); PASCAL VOC, development kit ("void" is counted nowhere).
    """

    code: ClassVar[str] = "E532"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E501", "E505", "E511", "E513", "L201", "L202", "L221", "D104", "D107")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the classes that the loss was asked for, and from those that are answered for which references, of maps of classes or
        rows of them: one that has a tenth of the places in the training, none in the evaluation, and is answered all the same."""
        # Some places that were picked out, those with a label for one, come in a row: only whole maps are known to be whole.
        known = [call for call in seen.evaluation.compared if len(call.shape) > 1 and _rows(call) >= _PLACES]
        if not known:
            raise NotJudged("no evaluation of whole maps was seen, place by place")
        asked = next((call.asked for call in seen.loss_calls if call.asked), None) or data_labels.training_labels(seen)
        if not asked or reading.several_models(seen):
            return None
        references, answers = Counter[str](), Counter[str]()
        for call in known:
            for reference, answer, rows in call.pairs:
                references[str(reference)] += rows
                answers[str(answer)] += rows
        trained, places = sum(asked.values()), answers.total()
        absent = [label for label in asked if asked[label] >= _TRAINED * trained and answers[label] >= _ANSWERED * places
                  and not references[label]]
        if len(absent) != 1 or not set(references) <= set(asked):
            return None  # other numbers altogether are another matter
        label = absent[0]
        return Finding(
            message=f"Class {label} has {asked[label] / trained:.0%} of the training's labels and none of the {places} references of the "
                    f"evaluation, and the model answers with it {answers[label]} times: each of these answers is wrong.",
            remedy=f"If {label} stands for places without a label, leave them out of the loss: "
                   + (f"`nn.CrossEntropyLoss(ignore_index={label})`." if seen.framework == "torch" else
                      f"`keras.losses.SparseCategoricalCrossentropy(ignore_class={label})`.")
                   + " If it is a class, the evaluation lacks its rows.",
            site=reading.place(seen, "criterion", "loss") or known[-1].site,
            evidence=[f"labels of a batch of the training: {data_labels.shares(asked)}",
                      f"references of the evaluation: {data_labels.shares(dict(references))}",
                      f"answers of the model: {data_labels.shares(dict(answers))}"])


def _rows(call: MetricFacts) -> int:
    return sum(rows for *_, rows in call.pairs)
