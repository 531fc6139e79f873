"""Optimizer steps at any multiple of the rates that were asked for."""

from __future__ import annotations

from typing import Any


class Stepper:
    """`clipping`: function of `torch.nn.utils` that is called before each step, and its limit.

    `rate`: of the first group; `warms_up`: a schedule begins far under what was asked for.
    """

    def __init__(self, torch: Any, optimizers: list[Any], clipping: tuple[str, float] | None = None) -> None:
        self._torch = torch
        self._optimizers = optimizers
        self.clipping = clipping
        self._rates = [[_rate(group) for group in optimizer.param_groups] for optimizer in optimizers]
        self.warms_up = any(float(group["lr"]) < 0.5 * _rate(group) for optimizer in optimizers for group in optimizer.param_groups)
        self.rate = self._rates[0][0]

    def renew(self) -> None:
        """The optimizers as new ones are: without moments."""
        for optimizer in self._optimizers:
            optimizer.state.clear()

    def step(self, weights: list[Any], factor: float) -> None:
        """One step of every optimizer, by the gradients that `weights` hold, at its rates times `factor`."""
        if self.clipping is not None:
            clip = getattr(self._torch.nn.utils, self.clipping[0])
            clip([weight for weight in weights if weight.grad is not None], self.clipping[1])
        for optimizer, rates in zip(self._optimizers, self._rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            type(optimizer).step(optimizer)  # not through the instance, on which a schedule counts the steps


def _rate(group: dict[str, Any]) -> float:
    """The rate that a script asks for: what a schedule starts from, where there is one."""
    return float(group.get("initial_lr", group["lr"]))
