"""Outputs that cannot come to what the loss asks for, whatever is learnt: cosines as logits, columns that are one and the same."""

from __future__ import annotations

import math

from harness.checks import loss_value, raised, reading, sourcing
from harness.checks.base import Finding
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site, TensorFacts

_WATCHED, _BOUND = 16, 0.25  # calls of a loss that are judged; of what a guess costs, that cannot be gone below
# Targets beyond what an output of fresh weights comes to, as a factor; and so many times the steps that were watched take it too long.
_FAR, _TOO_LONG, _UNMOVED, _TRIED = 100.0, 1000.0, 0.01, 2
_SENSIBLE = 15.0  # times the script's rate: with more than that, steps of any size would get anywhere
_LEARNT = 8  # steps after which columns that only began alike have parted


def cosines(seen: Observation) -> Finding | None:
    """No softmax of numbers between -1 and 1, or between a few hundredths, comes near to certainty."""
    calls = [call for call in seen.loss_calls if call.cosines is not None and call.inputs is not None and call.value is not None]
    if len(calls) < _WATCHED or len(calls) < len(seen.loss_calls) // 2:
        return None
    given = calls[-1].inputs
    classes = given.shape[-1] if given is not None else 0
    bound = max((call.cosines for call in calls if call.cosines is not None), default=1.0)
    least, guess = _least(bound, classes), math.log(max(classes, 2))
    if given is None or given.minimum is None or given.maximum is None or least < _BOUND * guess:
        return None
    shown = [(f"{len(calls)} calls of the loss, each of products of rows of length one; values in the last one from "
              f"{given.minimum:.3g} to {given.maximum:.3g}"), *reading.own_losses(seen)]
    scale = next((each.name for each in (seen.model.parameters if seen.model is not None else [])
                  if each.size == 1 and each.trainable and each.in_optimizer is False and not each.moved), None)
    if scale is not None:
        return Finding(
            message=f"The scale that cosines are multiplied by, `{scale}`, is not in the optimizer and stays what it was: as logits among "
                    f"{classes} they cannot bring the cross entropy below what so small a scale allows; a guess costs {guess:.3g}.",
            remedy="Give the optimizer all weights of the model, `Adam(model.parameters(), ...)`: those of its parts leave out what the "
                   "model itself holds.",
            site=reading.place(seen, "optimizer") or calls[0].site, evidence=shown)
    return _bounded(bound, classes, calls[0].site or reading.place(seen, "loss"), shown)


def in_a_step(seen: Observation) -> Finding | None:
    """The same of a Keras step, whose graph tells; as many classes as its table has columns, or as there are rows in a batch."""
    found = seen.cosines
    if found is None:
        return None
    rows = next((facts.shape[0] for batch in seen.batches for facts in batch.columns.values() if facts.shape), 0)
    classes = found.classes or rows
    if len(seen.steps) < _WATCHED or classes < 2 or _least(found.bound, classes) < _BOUND * math.log(classes):
        return None
    return _bounded(found.bound, classes, found.site or reading.place(seen, "loss", "fit"), reading.own_losses(seen))


def _least(bound: float, classes: int) -> float:
    """What the cross entropy cannot fall below where all logits lie within -bound and bound."""
    return math.log1p((classes - 1) * math.exp(-2 * bound))


def _bounded(bound: float, classes: int, site: Site | None, evidence: list[str]) -> Finding:
    return Finding(
        message=f"The loss takes cosines for logits{'' if bound == 1 else f', times {bound:.3g}'}. They stay within -{bound:.3g} and "
                f"{bound:.3g}, so that among {classes} the cross entropy cannot fall below {_least(bound, classes):.3g}, whatever is "
                f"learnt; a guess costs {math.log(max(classes, 2)):.3g}.",
        remedy="Divide them by a temperature, `scores / 0.07`, which is not to be multiplied by, or multiply by one that is learnt, "
               "`scores * log_scale.exp()`.",
        site=site, evidence=evidence)


def ordered(seen: Observation) -> Finding | None:
    """Targets in which two numbers stand the other way round than they do in any answer."""
    found = seen.probes.column_order
    if found is None or reading.several_models(seen):
        return None
    corners = found.columns == 4 and set(found.pairs) <= {(0, 2), (1, 3)}
    boxes = ("Bring both to one form: corners of x, y, width and height are `boxes[:, 2:] += boxes[:, :2]` "
             "(`torchvision.ops.box_convert(boxes, \"xywh\", \"xyxy\")`).")
    told = ", as the corners of a box, where the targets look like a corner and a size" if corners else ""
    return Finding(
        message=f"The model cannot answer what is wanted: of its {found.columns} numbers a row, number {found.above} (counted from 0) is "
                f"never below number {found.below}, whatever its weights are{told}. In {found.against:.0%} of the targets it is.",
        remedy=boxes if corners else "Give the targets in the form that the model answers in, or let it answer in theirs.",
        site=reading.place(seen, "collator.labels", "getitem.targets", "getitem.labels", "map.labels")
        or next(iter(sourcing.lines(seen, "labels")), None) or raised.made_by(seen, *raised.LABELS)
        or reading.place(seen, "loss", "forward", "fit"),
        evidence=[f"targets that were looked at: {found.rows}; weights were drawn anew for the answers until chance could be ruled out",
                  *reading.own_losses(seen)])


def far(seen: Observation) -> Finding | None:
    """Targets that are hundreds of times as large as the outputs, which steps of a usual size never come near to."""
    train, own = seen.probes.train, seen.probes.overfit
    calls = [call for call in seen.loss_calls if call.name in ("mse", "l1") and call.inputs is not None and call.target is not None]
    start, end = (train.start_loss, train.final_loss) if train is not None else (None, None)
    if loss_value.pulled(seen) is not None:
        return None  # beside a term that it is added to, what it does to that one is told
    if seen.task != "regression" or reading.several_models(seen) or not calls or train is None or start is None or end is None:
        return None
    reach, answered = _reach(calls[0].target), _reach(calls[0].inputs)
    most = _SENSIBLE * train.learning_rate
    fits = [fit for fit in (own, *seen.probes.overfit_scaled) if fit is not None and fit.learning_rate <= most]
    if reach < _FAR * max(1.0, answered) or len(fits) < _TRIED or any(map(reading.learned, fits)):
        return None
    power = 0.5 if calls[0].name == "mse" else 1.0
    left, gone = end**power, start**power - end**power
    if not 0 < end <= start or start - end > _UNMOVED * start or left < _TOO_LONG * gone:
        return None
    steps = len(train.losses) * left / gone if gone > 0 else math.inf
    return Finding(
        message=f"The targets go up to {reach:.3g} and the outputs begin within {answered:.3g}: {len(train.losses)} steps have come "
                f"{gone:.2g} nearer, and it would take them about {steps:.1g} to get there." if gone > 0 else
                f"The targets go up to {reach:.3g}, the outputs begin within {answered:.3g}, and the steps come no nearer.",
        remedy="Standardise the targets by those of the training set, `(y - mean) / std`, and take the answers back with "
               "`answer * std + mean`; or train on `log1p(y)` where they span powers of ten.",
        site=reading.place(seen, "collator.labels", "getitem.labels", "map.labels") or raised.made_by(seen, *raised.LABELS)
        or next(iter(sourcing.lines(seen, "labels")), None) or reading.place(seen, "loss", "forward", "fit"),
        evidence=[f"mean loss at the start {start:.4g}, after {len(train.losses)} steps {end:.4g}",
                  *[f"Probe, one batch: {reading.describe(fit)}" for fit in fits]])


def _reach(facts: TensorFacts | None) -> float:
    ends = (facts.minimum, facts.maximum) if facts is not None else ()
    return max((abs(end) for end in ends if end is not None), default=0.0)


def alike(seen: Observation) -> Finding | None:
    """One layer that answers for all columns of the output."""
    calls = [call for call in seen.loss_calls if call.inputs is not None and call.step > _LEARNT]
    if len(calls) < _WATCHED or not all(call.inputs is not None and call.inputs.columns_alike for call in calls):
        return None
    if any(call.target is not None and call.target.columns_alike for call in calls):
        return None
    given = calls[0].inputs
    columns = given.shape[1] if given is not None else 0
    return Finding(
        message=f"All {columns} columns of the output are the same numbers in every step: one and the same layer answers for all of them.",
        remedy="Make a layer for each: `nn.ModuleList([nn.Linear(width, 1) for _ in range(n)])`. A list times a number, `[layer] * n`, "
               "holds one layer n times.",
        site=reading.place(seen, "multiplied", "output", "model", "loss"), evidence=reading.own_losses(seen))
