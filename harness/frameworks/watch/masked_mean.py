"""A loss that is one number already, multiplied by numbers of rows or places."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.loss_facts import MaskedMeanFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import tensors

_FOLLOWED, _LARGEST, _STEPS = 60, 1 << 22, 3


def note(seen: Observation, factors: np.ndarray[Any, Any] | None, place: Site | None) -> None:
    """A product of these two. Factors that are all the same weigh nothing in the first place."""
    if factors is None or not 1 < factors.size <= _LARGEST or factors.dtype.kind not in "fiub" or factors.min() == factors.max():
        return
    seen.masked_mean = seen.masked_mean or MaskedMeanFacts(shape=list(factors.shape), zeros=float((factors == 0).mean()), site=place)


def committed(seen: Observation, loss: Any, records: list[Any]) -> None:
    """PyTorch: a loss is about to go backward, made of these calls of loss functions."""
    if seen.masked_mean is not None or len(seen.steps) >= _STEPS:
        return
    single = {record.output.grad_fn: record for record in records if record.output.numel() == 1 and record.output.grad_fn is not None}
    waiting: list[Any] = [loss.grad_fn]
    met: set[Any] = set()
    while waiting and single and len(met) < _FOLLOWED:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met.add(node)
        under = [part for part, _ in node.next_functions]
        record = next((single[part] for part in under if part in single), None)
        if record is not None and node.name().startswith("MulBackward"):
            saved: list[Any] = [getattr(node, name, None) for name in ("_saved_self", "_saved_other")]
            wide = [part for part in saved if tensors.is_tensor(part) and part.numel() > 1]
            if len(wide) == 1:
                note(seen, tensors.array(wide[0]), record.facts.site)
        waiting += [part for part in under if part not in single]
