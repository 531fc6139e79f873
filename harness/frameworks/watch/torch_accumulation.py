"""Steps that add up the gradients of several batches."""

from __future__ import annotations

import itertools
from typing import Any

from harness.checks.observation import Observation
from harness.frameworks.watch.torch_replay import Replay

_STEPS = 3
_NEAR = 0.02  # part of a sum


def undivided(torch: Any, seen: Observation, steps: list[list[Replay]]) -> int:
    """Of how many batches each of the first steps adds up the gradients of their mean losses, none divided; 0 where that is not so.

    What went backward is held against what the loss functions gave: a part of it would have been divided.
    """
    means = [(call.step, call.value) for call in seen.loss_calls if call.reduction == "mean" and call.value is not None]
    first = [(step, [value for number, value in means if number == step.step]) for step in seen.steps[:_STEPS]]
    batches = {step.backwards for step, _ in first}
    count = batches.pop() if len(batches) == 1 else None
    if not count or count < 2 or len(first) < _STEPS or not all(_others(torch, step, count) for step in steps[:_STEPS]):
        return 0
    whole = all(len(values) >= count and step.loss is not None and abs(step.loss - sum(values)) <= _NEAR * abs(sum(values))
                for step, values in first)
    return count if whole else 0


def _others(torch: Any, step: list[Replay], count: int) -> bool:
    """Whether each backward pass is of another batch, and not of another term of one batch's loss."""
    given = [replay.inputs() for replay in step]
    if len(given) != count or not all(given):
        return False
    return all(len(one) != len(other) or any(a.shape != b.shape or not torch.equal(a, b) for a, b in zip(one, other, strict=True))
               for one, other in itertools.pairwise(given))
