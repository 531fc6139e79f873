"""Losses that are computed with a graph and never go backward, although weights of the optimizer learn by them alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import StrayFacts
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_watch import TorchWatcher

_NUMBER = re.compile(r"\.(item|detach|numpy|tolist)\(|\.data\b|\bfloat\(")
_STEP, _LEAST = 2, 8  # the step that is looked at, and how many it takes to say that nothing has moved


class Strays:
    """Told of every loss that goes backward, and of the calls of loss functions since the one before."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._found: list[tuple[LossRecord, list[tuple[Any, Any]]]] = []

    def committed(self, loss: Any, used: list[LossRecord]) -> None:
        """A loss is about to go backward; `used`: calls of loss functions that may be part of it."""
        watch = self._watch
        if len(watch.seen.steps) + 1 != _STEP or len(used) < 2:
            return
        weights = [weight for known in watch.steps.known_optimizers() for weight in known.weights() if weight.requires_grad]
        grad = watch.torch.autograd.grad
        records = [record for record in used if record.output.requires_grad]
        parts = grad(loss.sum(), [record.output for record in records], retain_graph=True, allow_unused=True)
        apart = [record for record, part in zip(records, parts, strict=True) if part is None]
        if not apart or not weights:
            return
        reached = grad(loss.sum(), weights, retain_graph=True, allow_unused=True)
        for record in apart:
            own = grad(record.output.sum(), weights, retain_graph=True, allow_unused=True)
            alone = [weight for weight, there, here in zip(weights, reached, own, strict=True) if there is None and here is not None]
            if alone:
                self._found.append((record, [(weight, weight.detach().clone()) for weight in alone]))

    def finish(self) -> None:
        """The script is over: what has moved since had a backward pass of its own."""
        seen = self._watch.seen
        if len(seen.steps) < _LEAST:
            return
        for record, kept in self._found:
            if all(bool((weight.detach() == before).all()) for weight, before in kept):
                made, back = site(record.place), seen.sites.get("backward")
                number = any(_NUMBER.search(place.source) for place in (made, back) if place is not None)
                seen.stray = StrayFacts(name=record.facts.name, weights=len(kept), number=number, site=made)
                return
