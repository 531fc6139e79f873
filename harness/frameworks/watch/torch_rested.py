"""Models that run before every step, without gradients or cut off from the loss, and whose weights in an optimizer never get any."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import RestedFacts
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS, _SHARE, _MODELS = 12, 0.9, 20


@dataclass
class _Model:
    module: Any
    stack: tuple[Place, ...]
    recorded: bool  # with gradients, so that something behind it cuts it off
    steps: set[int] = field(default_factory=set)


class Rested:
    """Told of every answer of a model while steps are taken, and of every backward pass."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._models: dict[int, _Model] = {}
        self._reached: dict[int, Any] = {}

    def answered(self, call: RootCall) -> None:
        """A model has run."""
        if id(call.module) in self._reached:
            return
        known = self._models.get(id(call.module))
        if known is None and len(self._models) < _MODELS and not self._watch.seen.steps:
            known = self._models[id(call.module)] = _Model(call.module, self._watch.session.sites.stack(), call.grad)
        if known is not None:
            known.steps.add(self._watch.steps.steps)

    def went_back(self) -> None:
        """A backward pass is over: what has a gradient now is no such model."""
        for number, model in list(self._models.items()):
            if model.recorded and any(weight.grad is not None for weight in model.module.parameters()):
                self._reached[number] = self._models.pop(number).module

    def finish(self) -> None:
        """The first such model that has been there from the first step on, and that no loss has trained."""
        watch, taken = self._watch, self._watch.steps.steps
        trained = {id(weight) for root in watch.roots for weight in root.parameters()}
        held = {id(weight) for known in watch.steps.stepping for weight in known.weights()}
        for model in self._models.values():
            own = [weight for weight in model.module.parameters() if weight.requires_grad and id(weight) in held]
            if taken < _STEPS or len(model.steps - {taken}) < _SHARE * taken or not own:
                continue
            if model.recorded and not self._reached:
                continue  # no gradient reaches anything: the loss itself has lost its history
            if any(weight.grad is not None or (id(weight) in trained and not model.recorded) for weight in own):
                continue
            backward = watch.seen.sites.get("backward")
            place = next((one for one in model.stack if backward is not None and one[2] == backward.function), model.stack[0])
            watch.seen.rested = RestedFacts(kind=type(model.module).__name__, weights=len(own), steps=taken, site=site(place),
                                            called=site(model.stack[0]),
                                            recorded=model.recorded, built=site(watch.calls.place_of(model.module)))
            return
