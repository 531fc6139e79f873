"""Other optimizers than the first, and trainings after the watched one: whether what goes backward reaches the weights that they hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import LaterFacts
from harness.frameworks.watch import handed_back, tensors, written
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_optimizer import Optimizer
    from harness.frameworks.watch.torch_watch import TorchWatcher

_TELLING = 3
_NAMES = 6
_IDLE = 10


@dataclass
class _Late:
    """An optimizer that steps in a later training. `steps`: of it until then; `others`: of the other optimizers, by id; `frozen`: weights
    that took no part then, by id; `ran`: models that a loss went through since its last step, and where that loss's graph was first left.
    """

    steps: int
    others: dict[int, int]
    frozen: set[int]
    apart: int = 0
    idle: int = 0
    ran: list[tuple[Any, Place | None]] = field(default_factory=list)


class Phases:
    """Told by `Steps` and the watcher. The first optimizer, while all its steps are watched in full, is described elsewhere."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._modules: list[Any] = []
        self._late: dict[int, _Late] = {}

    def trained(self, modules: list[Any]) -> None:
        """A loss goes backward through these models."""
        if modules:
            self._modules = modules
        for late in self._late.values():
            late.ran += [(module, self._watch.tape.first_cut) for module in modules
                         if not any(module is known for known, _ in late.ran)]

    def about_to_step(self, known: Optimizer) -> None:
        """Judge one step: does the optimizer hold weights that no model has, where the model's own get gradients that nobody uses? Or
        weights of a model that ran, and that no loss has reached yet?"""
        if self._watch.seen.later is not None or not known.backwards:
            return
        late = self._late.get(id(known))
        if late is None:
            everyone = self._watch.steps.known_optimizers()
            frozen = {id(weight) for module in self._modules for weight in module.parameters() if not weight.requires_grad}
            late = self._late[id(known)] = _Late(known.steps, {id(other): other.steps for other in everyone}, frozen)
        own = known.weights()
        self._idle(late, known, own)
        if late.frozen:
            self._thawed(late, known, own)
        if self._watch.in_full and known is self._watch.steps.main:
            return
        if known.steps - late.steps >= _TELLING and all(weight.grad is not None for weight in own):
            late.apart = 0
            return
        used = {id(weight) for module in self._modules for weight in module.parameters()}
        foreign = [weight for weight in own if id(weight) not in used and not self._fed(weight)]
        left = self._left(late, known) if foreign else []
        late.apart = late.apart + 1 if left else 0
        if late.apart == _TELLING:
            place = self.made_anew(known) or written.rebound(known.place) or handed_back.asked(known.place) or known.place
            self._watch.seen.later = LaterFacts(step=known.steps + 2 - _TELLING, held=len(own) - len(foreign), foreign=len(foreign),
                                                left=left[:_NAMES], lacking=len(left), site=site(place))

    def made_anew(self, known: Optimizer) -> Place | None:
        """Where a model was put in the place of the optimizer's own; None where a helper built it, which says nothing of that."""
        held = {id(weight) for weight in known.weights()}
        new = [module for module in self._modules if self._watch.calls.built_after(module, known.modules)
               and not any(id(weight) in held for weight in module.parameters())]
        places = (self._watch.calls.place_of(module) for module in new)
        return next((place for place in places if (made := site(place)) is not None and not made.source.startswith("return")), None)

    def _idle(self, late: _Late, known: Optimizer, own: list[Any]) -> None:
        """Count steps at which no weight has had a gradient yet, though the model that they belong to has run."""
        if late.idle < 0 or any(weight.grad is not None for weight in own):
            late.idle = -1
            return
        ran, late.ran = late.ran, []
        names = {id(weight): (name, cut) for module, cut in ran for name, weight in module.named_parameters()}
        if not self._watch.steps.zeroing.wiped and all(id(weight) in names and weight.requires_grad for weight in own):
            late.idle += 1
        if late.idle == _IDLE and self._watch.seen.idle is None:
            self._watch.seen.idle = LaterFacts(step=known.steps + 1, held=len(own), foreign=0, lacking=len(own),
                                               left=[names[id(weight)][0] for weight in own[:_NAMES]],
                                               site=site(names[id(own[0])][1] or known.place))

    def _thawed(self, late: _Late, known: Optimizer, own: list[Any]) -> None:
        """Were weights set free that this optimizer, and every other, was made without?"""
        held = {id(weight) for weight in own}
        free = {id(weight): name for module in self._modules for name, weight in module.named_parameters()
                if id(weight) in late.frozen and weight.requires_grad}
        late.frozen -= held
        left = [name for name in self._left(late, known) if name in free.values()] if free.keys() - held else []
        if left:
            self._watch.seen.later = LaterFacts(step=known.steps + 1, held=len(own), foreign=0, left=left[:_NAMES], lacking=len(left),
                                                thawed=True, site=site(self._watch.tape.thawed or known.place))

    def _left(self, late: _Late, known: Optimizer) -> list[str]:
        """Weights that get gradients and are in no optimizer that steps in this training."""
        stepping = [other for other in self._watch.steps.known_optimizers()
                    if other is known or other.steps > late.others.get(id(other), 0)]
        taken = {id(weight) for other in stepping for weight in other.weights()}
        return [name for module in self._modules for name, weight in module.named_parameters()
                if id(weight) not in taken and weight.requires_grad and self._fed(weight)]

    def _fed(self, weight: Any) -> bool:
        """Whether a weight has a gradient, and not only zeros, as far as that can be read without waiting for a device."""
        return weight.grad is not None and (not tensors.readable(weight.grad) or bool(weight.grad.any()))
