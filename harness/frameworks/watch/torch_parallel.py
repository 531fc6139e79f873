"""Models that are trained by several processes, of which this is one: the others wait for each of its steps, and for nothing else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession


def attach(session: WatchSession) -> None:
    """Hook `DistributedDataParallel`: inside an experiment the model that it wraps runs by itself. A backward pass that no forward pass of
    the wrapper has prepared is left alone by its reducer."""

    def wrap(original: Any) -> Any:
        def forward(wrapper: Any, *args: Any, **kwargs: Any) -> Any:
            if session.experimenting:
                return wrapper.module(*args, **kwargs)
            return original(wrapper, *args, **kwargs)

        return forward

    session.when_imported("torch.nn.parallel.distributed",
                          lambda module: session.patches.replace(module.DistributedDataParallel, "forward", wrap))


def in_company() -> bool:
    """Whether other processes take part in this one's training: they would wait for every step that is left out here."""
    distributed: Any = sys.modules.get("torch.distributed")
    return distributed is not None and distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
