"""Weights that two optimizers of PyTorch's hold, and that they move against each other: how the gradients lie at the steps of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import OpposedFacts
from harness.frameworks.watch import tensors
from harness.frameworks.watch.in_turn import InTurn
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS, _LEAST, _LARGEST, _LOOKED = 24, 6, 1 << 22, 240


class Opposed:
    """Told of every step of an optimizer, before it is taken. Only where all weights of one are among those of another."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._held: dict[int, tuple[Any, dict[int, Any]]] = {}  # optimizers, and the weights of each
        self._last: dict[int, Any] = {}  # gradients of the smaller one's weights, flat, by optimizer
        self._cosines: dict[tuple[int, int], list[float]] = {}
        self._alone, self._looked = InTurn(), 0

    def attach(self) -> None:
        """Hook the steps of all optimizers."""
        from torch.optim import optimizer as module

        def before(optimizer: Any, _args: Any, _kwargs: Any) -> None:
            session = self._watch.session
            if session.active and self._watch.seen.further is None:
                with session.paused():
                    session.safely("gradients of two optimizers", self._steps, optimizer)

        self._watch.session.patches.calling(module.register_optimizer_step_pre_hook(before).remove)

    def _steps(self, optimizer: Any) -> None:
        if id(optimizer) not in self._held:
            weights = {id(weight): weight for group in optimizer.param_groups for weight in group["params"]}
            self._held[id(optimizer)] = optimizer, weights
        own = self._held[id(optimizer)][1]
        self._in_turn(optimizer, own)
        for number, (_, weights) in self._held.items():
            inner, outer = (own, weights) if len(own) < len(weights) else (weights, own)
            if weights is own or len(inner) == len(outer) or not inner.keys() <= outer.keys():
                continue
            if sum(weight.numel() for weight in inner.values()) > _LARGEST:
                continue
            found = self._flat(inner)
            if found is None:
                continue
            pair = (id(optimizer), number)
            pair = pair if pair in self._cosines else (number, id(optimizer))
            known, other = self._cosines.setdefault(pair, []), self._last.get(number)
            if other is not None and other.shape == found.shape:
                lengths = float(found.norm() * other.norm())
                known[:] = [*known, *([float((found @ other) / lengths)] if lengths else [])][-_STEPS:]
            self._last[id(optimizer)] = found

    def _in_turn(self, optimizer: Any, weights: dict[int, Any]) -> None:
        place = self._watch.session.sites.place()
        if self._looked >= _LOOKED or not self._alone.wants(id(optimizer), place):
            return
        if sum(weight.numel() for weight in weights.values()) > _LARGEST:
            return
        self._looked += 1
        gradients = {number: tensors.array(weight.grad) for number, weight in weights.items()
                     if weight.grad is not None and not weight.grad.is_sparse}
        known = {number: gradient for number, gradient in gradients.items() if gradient is not None}
        self._alone.stepped(id(optimizer), place, known)

    def _flat(self, weights: dict[int, Any]) -> Any:
        gradients = [weight.grad for weight in weights.values()]
        if any(gradient is None or gradient.is_sparse for gradient in gradients):
            return None
        return self._watch.torch.cat([gradient.detach().reshape(-1).float() for gradient in gradients])

    def facts(self) -> OpposedFacts | None:
        """The pair of which most is known."""
        cosines = max(self._cosines.items(), key=lambda item: len(item[1]), default=None)
        if cosines is None or len(cosines[1]) < _LEAST:
            return self._alone.facts()
        (one, other), values = cosines
        inner, outer = sorted((one, other), key=lambda number: len(self._held[number][1]))
        places = {id(known.optimizer): known.place for known in self._watch.steps.known_optimizers()}
        return OpposedFacts(weights=len(self._held[inner][1]), held=len(self._held[outer][1]), cosines=values, site=site(places.get(outer)))
