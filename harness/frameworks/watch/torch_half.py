"""Gradients of a step in float16: what they lose on their way back, where the loss is not scaled."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from harness.frameworks.watch.torch_replay import Replay

_SCALE, _STEPS = 2.0**10, 3


def lost(torch: Any, replays: Sequence[Replay]) -> float | None:
    """How far the gradients of these steps are from those of a loss that is scaled up on the way and down again, as a part of their norm;
    None where nothing runs in float16, or the scaled ones overflow."""
    found = []
    for replay in replays[:_STEPS]:
        if replay.autocast is None or replay.autocast[1] is not torch.float16:
            return None
        own, scaled = (_gradients(torch, replay, factor) for factor in (1.0, _SCALE))
        pairs = [(one, other) for one, other in zip(own, scaled, strict=True) if one is not None and other is not None]
        size = sum(float(other.double().pow(2).sum()) for _, other in pairs)
        apart = sum(float((one.double() - other.double()).pow(2).sum()) for one, other in pairs)
        if 0 < size < float("inf"):
            found.append((apart / size) ** 0.5)
    return statistics.median(found) if found else None


def _gradients(torch: Any, replay: Replay, factor: float) -> list[Any]:
    weights = [weight for module in replay.modules for weight in module.parameters() if weight.requires_grad]
    torch.manual_seed(0)
    with torch.enable_grad():
        found = torch.autograd.grad(replay.run() * factor, weights, allow_unused=True)
    return [None if gradient is None else gradient / factor for gradient in found]
