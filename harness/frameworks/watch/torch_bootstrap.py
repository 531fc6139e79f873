"""PyTorch: a model that answers twice for one loss, and what the loss makes of both answers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import bootstrap, tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_ANSWERS = 6


def committed(watch: TorchWatcher, loss: Any, calls: list[RootCall]) -> None:
    """A loss is about to go backward. `calls`: of models, since the last one did."""
    if len(watch.seen.steps) >= bootstrap.STEPS:
        return
    is_tensor = watch.torch.is_tensor
    answers = [call for call in calls if is_tensor(call.output) and call.output.requires_grad and 0 < call.output.dim() < 3]
    for one, other in itertools.combinations(answers[:_ANSWERS], 2):
        if one.module is other.module and one.output.shape == other.output.shape:
            try:
                with watch.session.paused():
                    parts = watch.torch.autograd.grad(loss.sum(), [one.output, other.output], retain_graph=True, allow_unused=True)
            except RuntimeError:  # a graph that knows no derivative but by all leaves, as that of a reentrant checkpoint
                return
            now, later = (None if part is None else tensors.array(part) for part in parts)
            if now is not None and later is not None:
                bootstrap.note(watch.seen, watch.session.sites, now, later, (one.place, other.place))
