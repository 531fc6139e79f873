"""What one answer for every row costs, where numbers are learnt: a model that ends there has learnt nothing."""

from __future__ import annotations

import math
import statistics

from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation

# Of a normal distribution, the mean distance from the middle beside the standard deviation.
_DISTANCE = math.sqrt(2 / math.pi)


def cost(call: LossCall) -> float | None:
    """Loss of the best constant answer for the targets of a batch; None where the loss is no squared or absolute error."""
    target = call.target
    if target is None or not target.std:
        return None
    return {"mse": target.std**2, "l1": target.std * _DISTANCE}.get(call.name)


def of_numbers(seen: Observation) -> float | None:
    """The same over the batches that were looked at, by the loss that most of them have; None where there is no such loss."""
    costs: dict[str, list[float]] = {"mse": [], "l1": []}
    for call in seen.loss_calls:
        found = cost(call)
        if found is not None:
            costs[call.name].append(found)
    most = max(costs.values(), key=len)
    return statistics.fmean(most) if most else None
