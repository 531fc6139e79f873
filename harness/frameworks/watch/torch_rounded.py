"""Weights of 16 bits: how much of what their optimizer asks for arrives, beside the same step in float32."""

from __future__ import annotations

import copy
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import RoundedFacts
from harness.frameworks.watch import halves

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS, _FIRST, _EVERY, _LATEST = 40, 3, 5, 3
_LARGEST = 1 << 23  # weights


class Rounding:
    """Told of every step of every optimizer."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._taken = 0
        self._found: list[tuple[float, float]] = []
        self._under_way: list[Any] = []
        self._beside: list[tuple[Any, Any, Any]] = []

    def attach(self) -> None:
        from torch.optim import optimizer

        for hook in (optimizer.register_optimizer_step_pre_hook(self._before), optimizer.register_optimizer_step_post_hook(self._after)):
            self._watch.session.patches.calling(hook.remove)
        for name in ("to", "half", "bfloat16"):
            self._watch.session.patches.replace(self._watch.torch.nn.Module, name, self._wrap)

    def _wrap(self, original: Any) -> Any:
        session = self._watch.session

        def turned(module: Any, *args: Any, **kwargs: Any) -> Any:
            before = session.active and "halved" not in self._watch.seen.sites and self._halved(module)
            made = original(module, *args, **kwargs)
            if session.active and before is False and "halved" not in self._watch.seen.sites and self._halved(module):
                session.safely("weights of 16 bits", session.site, "halved")
            return made

        return turned

    def _halved(self, module: Any) -> bool:
        """Whether the first weight is of 16 bits."""
        first = next(module.parameters(), None)
        return first is not None and first.dtype in (self._watch.torch.bfloat16, self._watch.torch.float16)

    def _before(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if not self._watch.session.active or self._taken >= _STEPS:
            return
        self._under_way.append(optimizer)
        if len(self._under_way) == 1:
            self._beside = self._watch.session.safely("a step in float32", self._in_full, optimizer) or []

    def _after(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if optimizer in self._under_way:
            self._under_way.remove(optimizer)
        if self._beside and not self._under_way and self._watch.session.active:
            self._watch.session.safely("a step in float32", self._compare, optimizer)

    def _in_full(self, optimizer: Any) -> list[tuple[Any, Any, Any]]:
        """Weights of 16 bits, their values, and those that the same step comes to in float32."""
        torch = self._watch.torch
        weights = [weight for group in optimizer.param_groups for weight in group["params"]
                   if weight.grad is not None and weight.dtype in (torch.bfloat16, torch.float16) and not weight.grad.is_sparse]
        wraps = any(isinstance(part, torch.optim.Optimizer) for part in vars(optimizer).values())  # its step would be that of the script's
        if not weights or wraps or sum(weight.numel() for weight in weights) > _LARGEST:
            return []
        self._taken += 1
        if self._taken > _FIRST and self._taken % _EVERY:
            return []
        with self._watch.session.paused(), torch.no_grad():
            twins = {id(weight): self._twin(weight) for weight in weights}
            other = copy.copy(optimizer)
            other.param_groups = [{**group, "params": [twins[id(weight)] for weight in group["params"] if id(weight) in twins]}
                                  for group in optimizer.param_groups]
            other.state = defaultdict(dict)
            for weight in weights:
                if weight in optimizer.state:
                    other.state[twins[id(weight)]] = {name: self._widened(value) for name, value in optimizer.state[weight].items()}
            for hooks in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"):
                setattr(other, hooks, {})
            before = [twins[id(weight)].detach().clone() for weight in weights]
            type(optimizer).step(other)
        return [(weight, old, twins[id(weight)].detach()) for weight, old in zip(weights, before, strict=True)]

    def _twin(self, weight: Any) -> Any:
        twin = self._watch.torch.nn.Parameter(weight.detach().float().clone())
        twin.grad = weight.grad.detach().float().clone()
        return twin

    def _widened(self, value: Any) -> Any:
        if not self._watch.torch.is_tensor(value):
            return copy.copy(value)
        return value.detach().clone().float() if value.is_floating_point() else value.detach().clone()

    def _compare(self, optimizer: Any) -> None:
        beside, self._beside = self._beside, []
        asked = apart = 0.0
        moves = still = 0
        with self._watch.session.paused(), self._watch.torch.no_grad():
            for weight, old, wanted in beside:
                step, taken = (wanted - old).double(), (weight.float() - old).double()
                asked += float(step.pow(2).sum())
                apart += float((taken - step).pow(2).sum())
                moves += int((step != 0).sum())
                still += int(((step != 0) & (taken == 0)).sum())
        if not 0 < asked < float("inf") or not apart < float("inf"):
            return
        self._found.append(((apart / asked) ** 0.5, still / moves))
        latest = self._found[-_LATEST:]
        self._watch.seen.rounded = RoundedFacts(
            dtype=str(beside[0][0].dtype).removeprefix("torch."), lost=statistics.median(lost for lost, _ in latest),
            still=statistics.median(share for _, share in latest), steps=len(self._found), kind=type(optimizer).__name__,
            learning_rate=float(optimizer.param_groups[0]["lr"]))
        if "halved" not in self._watch.seen.sites:
            self._watch.session.noted("halved", halves.written(self._watch.session.script))
