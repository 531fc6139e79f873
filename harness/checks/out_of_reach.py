"""Outputs that cannot come to what the loss asks for, whatever is learnt: cosines as logits, columns that are one and the same."""

from __future__ import annotations

import math

from harness.checks import reading
from harness.checks.base import Finding
from harness.checks.observation import Observation

_WATCHED, _BOUND = 16, 0.25  # calls of a loss that are judged; of what a guess costs, that cannot be gone below
_LEARNT = 8  # steps after which columns that only began alike have parted


def cosines(seen: Observation) -> Finding | None:
    """No softmax of numbers between -1 and 1 comes near to certainty."""
    calls = [call for call in seen.loss_calls if call.cosines and call.inputs is not None and call.value is not None]
    if len(calls) < _WATCHED or len(calls) < len(seen.loss_calls) // 2:
        return None
    given = calls[-1].inputs
    classes = given.shape[-1] if given is not None else 0
    least, guess = math.log1p((classes - 1) * math.exp(-2)), math.log(max(classes, 2))
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
    return Finding(
        message=f"The loss takes cosines for logits. They stay within -1 and 1, so that among {classes} the cross entropy cannot fall "
                f"below {least:.3g}, whatever is learnt; a guess costs {guess:.3g}.",
        remedy="Divide them by a temperature, `scores / 0.07`, or multiply by one that is learnt, `scores * log_scale.exp()`.",
        site=calls[0].site or reading.place(seen, "loss"), evidence=shown)


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
