"""Units that never fire: what the nonlinearities put out over the watched batches."""

from __future__ import annotations

from typing import Any

from harness.checks.model_facts import UnitFacts
from harness.frameworks.watch.torch_inside import inside, name_of
from harness.frameworks.watch.torch_replay import Replay

_KINDS = {"relu": "relu", "relu_": "relu", "relu6": "relu", "threshold": "relu", "sigmoid": "sigmoid", "tanh": "tanh"}
_MOST = 200


def units(torch: Any, replays: list[Replay]) -> list[UnitFacts]:
    """Share of units of each nonlinearity that are zero (sigmoid, tanh: saturated) for every row of every replay.

    A unit is a channel of an image, a feature otherwise; its other places count as rows.
    """
    alive: dict[tuple[str, str, int], Any] = {}
    counts: dict[str, int] = {}

    def look(function: Any, _args: Any, _kwargs: Any, result: Any, module: str) -> None:
        kind = _KINDS.get(name_of(function)) or _KINDS.get(getattr(function, "__name__", ""))
        if kind is None or not module or not torch.is_tensor(result) or result.dim() < 2:
            return
        counts[module] = counts.get(module, 0) + 1
        key = (module, kind, counts[module])
        values = result.detach()
        channels = values.movedim(1, -1) if values.dim() == 4 else values
        flat = channels.reshape(-1, channels.shape[-1]).float()
        if kind == "relu":
            fires = (flat > 0).any(0)
        elif kind == "sigmoid":
            fires = ((flat > 0.01) & (flat < 0.99)).any(0)
        else:
            fires = (flat.abs() < 0.99).any(0)
        before = alive.get(key)
        alive[key] = fires if before is None or before.shape != fires.shape else before | fires

    for replay in replays:
        counts.clear()
        with torch.no_grad(), inside(torch, replay.modules, look):
            replay.run()
    return [UnitFacts(module=module, kind=kind, dead_share=1 - float(fires.float().mean()))
            for (module, kind, _), fires in list(alive.items())[:_MOST]]
