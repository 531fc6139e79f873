"""Inputs of an evaluation that are of another scale than those of the training."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.evaluation_facts import ConditionFacts, RelationFacts, ScaleFacts
from harness.checks.observation import Observation

# By how much deviations differ, as a factor, and means, in deviations of the training; both: a wider range alone may be meant. The last
# part of a series may well be much narrower than the whole.
_WIDER, _NARROWER, _MOVED = 3.0, 20.0, 1.0
# Where another evaluation has the training's scale, a mean so many deviations away is enough, or that no number is below 0.
_ELSEWHERE = 5.0
# Less will do where so many numbers of the training are below 0 and none of the evaluation's: logarithms beside what they are taken of.
_SIGNED, _WIDER_UNSIGNED = 0.2, 2.0
# What was learnt, and how little more than a guess is left of it in the evaluation: then a narrower range needs to be narrow no more than
# a wider one wide.
_LEARNT, _FALLEN, _GUESS = 0.6, 0.35, 0.1
# Of numbers beside the rows: the share outside of the training's range, and how many times as large the largest is.
_MOST, _FAR = 0.5, 5.0


class OtherScale(Check):
    """The evaluation gets inputs of another scale than the training.

    Whatever is done to the inputs of the training, dividing by 255 or standardising by their mean and deviation, has to be done to all
    others with the same numbers. A model that was trained around 0 answers nothing of use for values around 100.
    Source: scikit-learn docs, "Common pitfalls" (inconsistent preprocessing).
    """

    code: ClassVar[str] = "E508"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("D103", "L209", "S406", "E512")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from mean, deviation and sign of what one model is given in training and, in the same shape, in evaluation; and from the
        range of what it is given beside that, one number for each row."""
        condition = seen.evaluation.condition
        if condition is not None and _elsewhere(condition):
            return self._condition(seen, condition)
        scale = seen.evaluation.scale
        if scale is None:
            raise NotJudged("no model was seen to get inputs of one shape in training and in evaluation")
        if reading.several_models(seen):
            raise NotJudged("several models are trained, each with inputs of its own")
        output = seen.model.output if seen.model is not None else None
        if output is not None and list(output.shape[1:]) == scale.shape:
            raise NotJudged("a model that gives back what it is given may be asked for what is out of the ordinary")
        if not differs(scale, seen.evaluation.relation or seen.evaluation.loose_relation):
            return None
        unsigned = _unsigned(scale)
        trained, held = (f"mean {mean:.3g}, deviation {deviation:.3g}" for mean, deviation in (
            (scale.mean, scale.std), (scale.held_mean, scale.held_std)))
        return Finding(
            message="What the model is given in the evaluation is of another scale than what it was trained on: "
                    f"{held}, against {trained}.",
            remedy="Do to these inputs what is done to those of the training, with the same numbers: "
                   "`test = (test - train_mean) / train_std`, `scaler.transform(test)` (never `fit_transform`), `/ 255`.",
            site=sourcing.of_others(seen) or reading.place(seen, "eval_transform", "eval_dataset", "evaluation", "eval_loader", "loader"),
            evidence=[f"training: rows of {scale.shape}, {trained}", f"evaluation: {held}",
                      *([f"below 0: {scale.below:.0%} of the training's numbers, none of the evaluation's"] if unsigned else [])])


    @staticmethod
    def _condition(seen: Observation, found: ConditionFacts) -> Finding:
        """A number for each row that the model is given beside the rows."""
        trained, held = (f"{low:.3g} to {high:.3g}" for low, high in (found.trained, found.held))
        return Finding(
            message=f"What the model is given beside the rows, one number for each, is of another scale in the evaluation than in the "
                    f"training: {held}, against {trained}.",
            remedy="Scale it in one place, inside the model, `time = time.float() / steps`, so that training and sampling hand over the "
                   "same thing.",
            site=reading.place(seen, "evaluation"),
            evidence=[f"calls that were looked at: {found.calls}; outside of the training's range: {found.beyond:.0%}"])


def _elsewhere(found: ConditionFacts) -> bool:
    """Whether most of such numbers lie far outside of those of the training, or are parts of one where the training's count steps."""
    own, others = (max(map(abs, ends)) for ends in (found.trained, found.held))
    return (found.beyond > _MOST and others > _FAR * own) or (found.steps and found.fractions and others <= 1 and own > _FAR)


def differs(scale: ScaleFacts, relation: RelationFacts | None) -> bool:
    """Whether what an evaluation is given has another scale than what was trained on. `relation`: of the answers in both."""
    low, high = scale.held_stds
    narrower = _WIDER if _lost(relation) else _NARROWER
    wider = low > (_WIDER_UNSIGNED if _unsigned(scale) else _WIDER) * scale.std or 0 < high < scale.std / narrower
    moved = abs(scale.held_mean - scale.mean)
    elsewhere = scale.beside and (moved > _ELSEWHERE * max(scale.std, high) or _unsigned(scale))
    return elsewhere or (wider and moved >= _MOVED * min(scale.std, high))


def _unsigned(scale: ScaleFacts) -> bool:
    return scale.below > _SIGNED and not scale.held_below


def _lost(relation: RelationFacts | None) -> bool:
    """Whether the answers fit in the training, and in the evaluation hardly better than a guess."""
    if relation is None or relation.trained < _LEARNT or relation.trained - relation.held < _FALLEN:
        return False
    return relation.held < relation.majority + _GUESS
