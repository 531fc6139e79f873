"""Scripts that are written for a launcher (`torchrun`): what it tells each of its processes, as the only one of them would hear it."""

from __future__ import annotations

import socket

from harness.checks.training_facts import ExceptionFacts

# What torchrun sets, see https://docs.pytorch.org/docs/stable/elastic/run.html
_TOLD = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")


def asked_for(exception: ExceptionFacts | None) -> bool:
    """Whether a script ended since nobody had told it which of how many processes it is."""
    if exception is None:
        return False
    source = exception.site.source if exception.site is not None else ""
    asks = f"{exception.message} {source}" if exception.type in ("KeyError", "TypeError") else ""
    return any(f"environment variable {name} expected" in exception.message or f"'{name}'" in asks or f'"{name}"' in asks for name in _TOLD)


def one_of_one() -> dict[str, str]:
    """What `torchrun --nproc-per-node 1` tells: the environment of the only process, with a port of the loopback that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "GROUP_RANK": "0",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
