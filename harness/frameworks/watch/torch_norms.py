"""Running statistics of a PyTorch model that are those of its last batch, or still its first ones: what it answers with the mean of all
batches' instead."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.frameworks.watch.norms import LEFT, NEWEST, Hasty, Slow, shares


def hasty(torch: Any, replays: list[Any], built: Callable[[Any], Any]) -> Hasty | None:
    """Layers in which a new batch outweighs all before it; `replays`: forward passes of the batches that were seen."""
    layers = [layer for layer in _layers(replays) if layer.momentum >= NEWEST]
    if not layers:
        return None
    first = layers[0]
    return Hasty(type(first).__name__, float(first.momentum), functools.partial(_after, torch, replays, layers), built(first))


def slow(torch: Any, replays: list[Any], built: Callable[[Any], Any], taken: int, steps: int) -> Slow | None:
    """Layers of which much is left that they began with when all `steps` are taken, of which so many were."""
    found = [(layer, int(layer.num_batches_tracked)) for layer in _layers(replays) if layer.num_batches_tracked is not None]
    left = {id(layer): shares(layer.momentum, updates, updates * steps / taken) for layer, updates in found if updates >= taken}
    layers = [layer for layer, _ in found if left.get(id(layer), (0.0, 0.0))[0] >= LEFT]
    if not layers:
        return None
    first = layers[0]
    return Slow(type(first).__name__, float(first.momentum), *left[id(first)], steps, functools.partial(_after, torch, replays, layers),
                built(first))


def _layers(replays: list[Any]) -> list[Any]:
    modules = {id(inner): inner for replay in replays for outer in replay.modules for inner in outer.modules()}
    return [module for module in modules.values() if getattr(module, "running_mean", None) is not None
            and isinstance(module.momentum, float)]


@contextlib.contextmanager
def _after(torch: Any, replays: list[Any], layers: list[Any], passes: Sequence[int], share: float = 0.0) -> Iterator[None]:
    """While inside, the layers' statistics are the mean over these passes, and to `share` what they are now."""
    kept = [(layer, layer.momentum, {name: buffer.clone() for name, buffer in layer._buffers.items() if buffer is not None})
            for layer in layers]
    try:
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None  # the mean over all
        with torch.no_grad():
            for number in passes:
                replays[number].run()
            for layer, _, buffers in kept:
                for name in ("running_mean", "running_var") if share else ():
                    layer._buffers[name].lerp_(buffers[name], share)
        yield
    finally:
        for layer, momentum, buffers in kept:
            layer.momentum = momentum
            for name, value in buffers.items():
                layer._buffers[name].copy_(value)
