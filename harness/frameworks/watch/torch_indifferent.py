"""Rows of one label of which a loss of PyTorch's, written out by hand, wants nothing, whatever a model answers for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.probe_facts import IndifferentFacts
from harness.frameworks.watch import tensors, trees
from harness.frameworks.watch.sites import Place, site
from harness.frameworks.watch.torch_replay import Replay, Slot

_STEPS, _LABELS = 4, 2
_PRODUCTS = ("matmul", "mv", "linear", "__matmul__")


def measure(torch: Any, replays: list[Replay]) -> IndifferentFacts | None:
    """Of the first steps in which there is one number for each row, from a model or by hand, and nothing stands beside these but labels of
    0 and 1.

    None where anything else comes in from outside: a weight of 0 leaves a row out on purpose.
    """
    rows, steps = 0, 0
    place: Place | None = None
    for replay in replays[:_STEPS]:
        slot = None if replay.targets else _answers(replay)
        if slot is None:
            return None
        with torch.no_grad():
            answers = replay.run(slot=slot)
        labels, place = _labels(replay, slot, answers)
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


def _answers(replay: Replay) -> int | None:
    """The slot of what a model gives; without a model, of the first product of rows and weights."""
    models = [slots for _, _, _, slots, is_model, _ in replay.entries if is_model]
    made = models if models else [slots for function, _, _, slots, _, _ in replay.entries
                                  if getattr(function, "__name__", "") in _PRODUCTS][:1]
    return made[0][0] if len(made) == 1 and len(made[0]) == 1 else None


def _labels(replay: Replay, slot: int, answers: Any) -> tuple[Any, Place | None]:
    """The values of a tensor that has one for each row, 0 and another (a minus makes -1 of 1), and where it comes in: where nothing else
    comes from outside into what is made of the answers."""
    if not answers.dim() or not answers.is_floating_point() or answers.numel() != answers.shape[0]:
        return None, None
    behind = {slot}
    given: dict[int, tuple[Any, Place | None]] = {}
    for _, args, kwargs, slots, _, place in replay.entries:
        if behind & {part.number for part in trees.leaves([args, kwargs], lambda part: isinstance(part, Slot))}:
            behind.update(slots)
            given |= {id(tensor): (tensor, place) for tensor in trees.leaves([args, kwargs], tensors.is_tensor)
                      if not tensor.requires_grad and tensor.dim() and tensor.numel() % answers.numel() == 0}
    tensor, place = next(iter(given.values())) if len(given) == 1 else (None, None)
    values = tensors.array(tensor) if tensor is not None and tensor.numel() == answers.numel() else None
    if values is None or 0 not in values or len(np.unique(values)) != _LABELS:
        return None, None
    return values.reshape(-1), place
