"""Everything that a probe may touch, kept beforehand and put back afterwards, bit for bit."""

from __future__ import annotations

import collections
import contextlib
import io
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

_DEPTH = 4
_HELD = ("_parameters", "_buffers", "_modules")


class Frozen:
    """Weights, buffers, gradients, flags and attributes of modules, optimizers, and the generators of torch, numpy and Python.

    Values are written through `.data`, and version counters are kept, so that a graph which the script still holds stays valid.
    """

    def __init__(self, torch: Any, modules: list[Any], optimizers: list[Any], weights: list[Any]) -> None:
        self._torch = torch
        found = {id(inner): inner for module in modules for inner in module.modules()}
        self._modules = list(found.values())
        own = [weight for module in self._modules for weight in module._parameters.values() if weight is not None]
        held = [weight for optimizer in optimizers for group in optimizer.param_groups for weight in group["params"]]
        self.weights = list({id(weight): weight for weight in [*own, *held, *weights]}.values())
        self._values = [weight.detach().clone() for weight in self.weights]
        self._gradients = [weight.grad for weight in self.weights]
        self._wanted = [weight.requires_grad for weight in self.weights]
        self._buffers = [(module, name, buffer, None if buffer is None else buffer.detach().clone())
                         for module in self._modules for name, buffer in module._buffers.items()]
        self._attributes = [(module, {key: value for key, value in vars(module).items() if key not in _HELD}) for module in self._modules]
        self._optimizers = [(optimizer, dict(vars(optimizer)), [dict(group) for group in optimizer.param_groups])
                            for optimizer in optimizers]
        self._generators = _generators(torch)
        tensors = [*self.weights, *(buffer for _, _, buffer, _ in self._buffers if buffer is not None)]
        self._versions = torch.autograd._unsafe_preserve_version_counter(tuple(tensors)) if tensors else contextlib.nullcontext()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While inside, anything may be changed; afterwards all is as it was."""
        with self._versions:
            try:
                for optimizer, _, _ in self._optimizers:
                    optimizer.state = collections.defaultdict(dict)
                yield
            finally:
                self._put_back()

    def _put_back(self) -> None:
        for weight, value, gradient, wanted in zip(self.weights, self._values, self._gradients, self._wanted, strict=True):
            weight.data.copy_(value)
            weight.grad = gradient
            weight.requires_grad_(wanted)
        for module, name, buffer, value in self._buffers:
            if buffer is not None:
                buffer.data.copy_(value)
            module._buffers[name] = buffer
        for module, attributes in self._attributes:
            for key in [key for key in vars(module) if key not in attributes and key not in _HELD]:
                del module.__dict__[key]
            module.__dict__.update(attributes)
        for optimizer, attributes, groups in self._optimizers:
            optimizer.__dict__.clear()
            optimizer.__dict__.update(attributes)
            for group, before in zip(optimizer.param_groups, groups, strict=True):
                group.clear()
                group.update(before)
        _restore_generators(self._torch, self._generators)


class Start:
    """The weights and buffers as they were before the first step, and the modules' modes, to begin probe runs from."""

    def __init__(self, modules: list[Any], weights: list[Any]) -> None:
        inner = list({id(found): found for module in modules for found in module.modules()}.values())
        own = [weight for module in inner for weight in module._parameters.values() if weight is not None]
        self.weights = list({id(weight): weight for weight in [*own, *weights]}.values())
        self._values = [weight.detach().clone() for weight in self.weights]
        self._buffers = [(buffer, buffer.detach().clone()) for module in inner for buffer in module._buffers.values() if buffer is not None]
        self._modes = [(module, module.training) for module in inner]

    def put(self) -> None:
        """Weights, buffers and modes as at the start."""
        for weight, value in zip(self.weights, self._values, strict=True):
            weight.data.copy_(value)
        for buffer, value in self._buffers:
            buffer.data.copy_(value)
        self.train()

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Every weight that is trained, and its value at the start."""
        return ((weight, value) for weight, value in zip(self.weights, self._values, strict=True) if weight.requires_grad)

    def moved(self) -> list[float]:
        """Of every trained weight matrix that was not zero: norm of its change since / its norm then."""
        return [float((weight.detach() - value).float().norm() / value.float().norm())
                for weight, value in zip(self.weights, self._values, strict=True)
                if weight.dim() > 1 and weight.requires_grad and float(value.float().norm()) > 0]

    def train(self) -> None:
        """Modes as in training."""
        for module, training in self._modes:
            module.training = training

    def eval(self) -> None:
        """Every module in evaluation mode."""
        for module, _ in self._modes:
            module.training = False


def _generators(torch: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        kept["cuda"] = torch.cuda.get_rng_state_all()
    if "numpy" in sys.modules:
        kept["numpy"] = sys.modules["numpy"].random.get_state()
    return kept


def _restore_generators(torch: Any, kept: dict[str, Any]) -> None:
    torch.set_rng_state(kept["torch"])
    random.setstate(kept["python"])
    if "cuda" in kept:
        torch.cuda.set_rng_state_all(kept["cuda"])
    if "numpy" in kept:
        sys.modules["numpy"].random.set_state(kept["numpy"])


@contextlib.contextmanager
def generators_kept(torch: Any) -> Iterator[None]:
    """The generators' states afterwards as before."""
    kept = _generators(torch)
    try:
        yield
    finally:
        _restore_generators(torch, kept)


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """What the script's own code prints while it is probed is not shown."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


@contextlib.contextmanager
def own_generators_kept(dataset: Any) -> Iterator[None]:
    """Random generators that a dataset holds, itself or in what it is made of, stand afterwards where they stood."""
    kept: list[tuple[Any, Any]] = []
    waiting, known = [(dataset, 0)], {id(dataset)}
    while waiting:
        owner, depth = waiting.pop()
        if isinstance(owner, np.random.Generator):
            kept.append((owner, owner.bit_generator.state))
        elif isinstance(owner, np.random.RandomState):
            kept.append((owner, owner.get_state()))
        elif isinstance(owner, random.Random):
            kept.append((owner, owner.getstate()))
        elif type(owner).__name__ == "Generator" and hasattr(owner, "get_state"):
            kept.append((owner, owner.get_state()))
        inner = list(getattr(owner, "__dict__", {}).values()) + (list(owner) if isinstance(owner, list | tuple) and len(owner) < 50 else [])
        for part in inner if depth < _DEPTH else []:
            if id(part) not in known:
                known.add(id(part))
                waiting.append((part, depth + 1))
    try:
        yield
    finally:
        for owner, state in kept:
            if isinstance(owner, np.random.Generator):
                owner.bit_generator.state = state
            elif isinstance(owner, random.Random):
                owner.setstate(state)
            else:
                owner.set_state(state)


def redraw(torch: Any, weights: list[Any], seed: int) -> None:
    """Weights of another draw, normal numbers twice their own size; what is zero gets numbers as well."""
    generator = torch.Generator().manual_seed(seed)
    for weight in (weight for weight in weights if weight.is_floating_point()):
        size = 2.0 * float(weight.detach().float().pow(2).mean().sqrt()) or 0.5
        weight.data.copy_(size * torch.randn(weight.shape, generator=generator))
