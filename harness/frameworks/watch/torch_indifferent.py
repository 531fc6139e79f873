"""Rows of one label of which a loss of PyTorch's, written out by hand, wants nothing, whatever a model answers for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.probe_facts import IndifferentFacts
from harness.frameworks.watch import tensors, trees
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_replay import Replay

_STEPS, _LABELS = 4, 2


def measure(torch: Any, replays: list[Replay]) -> IndifferentFacts | None:
    """Of the first steps in which one model gives one number for each row, and nothing stands beside these but labels of 0 and 1.

    None where anything else comes in from outside: a weight of 0 leaves a row out on purpose.
    """
    rows, steps = 0, 0
    place: Place | None = None
    for replay in replays[:_STEPS]:
        models = [entry for entry in replay.entries if entry[4]]
        if len(models) != 1 or len(models[0][3]) != 1 or replay.targets:
            return None
        slot = models[0][3][0]
        with torch.no_grad():
            answers = replay.run(slot=slot)
        labels, place = _labels(replay, answers)
        if labels is None:
            return None
        leaf = answers.detach().clone().requires_grad_()
        (slopes,) = torch.autograd.grad(replay.run(given={slot: leaf}), [leaf], allow_unused=True)
        found = tensors.array(slopes.detach()) if slopes is not None else None
        if found is None or not np.isfinite(found).all():
            return None
        moved = found.reshape(-1) != 0
        if moved[labels == 0].any() or not moved[labels != 0].any():
            return None
        rows, steps = rows + int((labels == 0).sum()), steps + 1
    return IndifferentFacts(rows=rows, steps=steps, site=site(place)) if rows else None


def _labels(replay: Replay, answers: Any) -> tuple[Any, Place | None]:
    """The values of a tensor that has one for each row, 0 and another (a minus makes -1 of 1), and where it comes in: where nothing else
    comes from outside behind the model."""
    if not answers.dim() or not answers.is_floating_point() or answers.numel() != answers.shape[0]:
        return None, None
    given = {id(tensor): (tensor, place) for _, args, kwargs, _, is_model, place in replay.entries if not is_model
             for tensor in trees.leaves([args, kwargs], tensors.is_tensor)
             if not tensor.requires_grad and tensor.dim() and tensor.numel() % answers.numel() == 0}
    tensor, place = next(iter(given.values())) if len(given) == 1 else (None, None)
    values = tensors.array(tensor) if tensor is not None and tensor.numel() == answers.numel() else None
    if values is None or 0 not in values or len(np.unique(values)) != _LABELS:
        return None, None
    return values.reshape(-1), place
