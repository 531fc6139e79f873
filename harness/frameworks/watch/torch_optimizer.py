"""What is known of one optimizer of a script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.frameworks.watch.sites import Place


@dataclass
class Optimizer:
    """An optimizer of the script. `modules`: how many were built before it; `zeroed`: smallest norm of its gradients at the start of a
    backward pass since its last step; `own_loss`: not every step of it went after the single loss that another one has stepped for."""

    optimizer: Any
    place: Place | None
    modules: int = 0
    steps: int = 0
    backwards: int = 0
    zeroed: Any = None
    own_loss: bool = False
    losses: list[Any] = field(default_factory=list)
    before: list[tuple[Any, Any]] = field(default_factory=list)
    norm: Any = None
    rates: list[float] = field(default_factory=list)

    def weights(self) -> list[Any]:
        """All weights that it holds."""
        return [weight for group in self.optimizer.param_groups for weight in group["params"]]
