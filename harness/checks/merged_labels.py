"""Label values that were made one with another before the loss saw them."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.value_facts import MergeFacts

_SHARE, _LEAST, _BEYOND = 0.005, 8, 2
_SHOWN = 12


class MergedLabels(Check):
    """A label that stands for no class, or for one more, is made one of the classes.

    A filler (255 around objects, -1 for what nobody has labelled) is a number that no class has, so that a loss can leave it out. Clipped
    or replaced, it is a class like any other: what nobody knows is learnt as that class, and counted as it. Labels from 1 to K that are
    clipped to 0 to K - 1 make one class of the last two. Sources: PASCAL VOC 2012 development kit (void, 255: no part of training or
    evaluation); PyTorch docs, `CrossEntropyLoss` (`ignore_index`).
    """

    code: ClassVar[str] = "D123"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges whole numbers of the target's shape that a call has changed, where what they have become was a class before; from the
        first call of a loss that takes class ids and a mean over all of them."""
        call = next((call for call in seen.loss_calls if call.takes_class_ids and call.target is not None), None)
        classes = _classes(call)
        # Keras' weights may be those of rows and places, and 0 where there is no label; PyTorch's are of classes.
        if call is None or classes is None or call.reduction == "none" or (call.weighted and seen.framework != "torch"):
            return None
        for facts in seen.merges:
            if facts.changed >= max(_LEAST, _SHARE * facts.places) and _are_labels(facts, call, classes):
                found = _filler(facts, classes) or _one_too_high(facts, classes)
                if found is not None:
                    return found
        return None


def _classes(call: LossCall | None) -> int | None:
    """How many logits a place has."""
    if call is None or call.inputs is None or call.target is None or len(call.inputs.shape) < 2:
        return None
    shape, target = call.inputs.shape, call.target.shape
    return shape[1] if len(shape) > 2 and [shape[0], *shape[2:]] == list(target) else shape[-1]


def _are_labels(facts: MergeFacts, call: LossCall, classes: int) -> bool:
    """Whether numbers may be those of a target: within the classes, and of the shape of one row or of all."""
    target = call.target
    if target is None or target.minimum is None or target.maximum is None or not facts.after:
        return False
    places = [side for side in target.shape[1:] if side != 1]
    shape = [side for side in facts.shape if side != 1]
    return facts.after[0] >= 0 and facts.after[-1] < classes and target.minimum >= 0 and target.maximum < classes and (
        shape[-len(places):] == places and len(shape) <= len(places) + 1 if places else len(shape) == 1)


def _filler(facts: MergeFacts, classes: int) -> Finding | None:
    """One number that is none of the classes, nor the next after them, made a class that was there before."""
    if len(facts.replaced) != 1 or len(facts.by) != 1 or facts.by[0] not in facts.before:
        return None
    filler, made = facts.replaced[0], facts.by[0]
    if 0 <= filler < classes + _BEYOND - 1:
        return None
    return Finding(
        message=f"{filler} is the number of no class: it marks what has none. Here {facts.changed} of {facts.places} labels have it "
                f"({100 * facts.changed / facts.places:.1f} %) and are made class {made}; the loss learns them as that.",
        remedy=f"Leave it in the labels and tell the loss to pass it over: `CrossEntropyLoss(ignore_index={filler})`, "
               f"`SparseCategoricalCrossentropy(ignore_class={filler})`; leave it out of the metric as well.",
        site=facts.site, evidence=[f"labels before: {_told(facts.before)}; after: {_told(facts.after)}; classes of the output: {classes}"])


def _one_too_high(facts: MergeFacts, classes: int) -> Finding | None:
    """As many labels as there are classes, numbered from 1, of which the last two became one."""
    if facts.before != list(range(1, classes + 1)) or facts.replaced != [classes] or facts.by != [classes - 1]:
        return None
    return Finding(
        message=f"The labels are numbered from 1 to {classes}, and the classes from 0 to {classes - 1}: clipped to these, the last two "
                f"labels are one, and class 0 has no rows. {facts.changed} of {facts.places} labels were {classes}.",
        remedy="Take 1 off instead (`labels - 1`), and add it again to what is shown.",
        site=facts.site, evidence=[f"labels before: {_told(facts.before)}; after: {_told(facts.after)}; classes of the output: {classes}"])


def _told(values: list[int]) -> str:
    return ", ".join(map(str, values[:_SHOWN])) + (", ..." if len(values) > _SHOWN else "")
