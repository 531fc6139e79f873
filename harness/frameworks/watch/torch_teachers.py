"""Models that answer beside a training and learn nothing themselves, such as teachers: whether they do so in training mode."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import TeacherFacts
from harness.frameworks.watch import tensors
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_TURNS = 3
_APART = 0.1  # of the size of an answer


@dataclass
class _Known:
    module: Any  # a weak reference
    weights: float
    step: int
    turns: int = 1


class Teachers:
    """Told of every model that runs."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._known: dict[int, _Known] = {}
        self._asked: set[int] = set()

    def ran(self, call: RootCall) -> None:
        """Count the steps, one after the other, for which a model answers in training mode that no gradient goes back to; then ask once
        more in evaluation mode."""
        watch, module = self._watch, call.module
        if not call.training or not watch.in_full or id(module) in self._asked:
            return
        output = watch.losses.output_of([call])
        if output is None or output.requires_grad or not output.dim() or not _draws(module):
            return
        step, known = watch.steps.steps, self._known.get(id(module))
        if known is None or known.module() is not module or step > known.step + 1 or known.weights != _sum(module):
            self._known[id(module)] = _Known(weakref.ref(module), _sum(module), step)
        elif step == known.step + 1:
            known.step, known.turns = step, known.turns + 1
        if self._known[id(module)].turns > _TURNS and not self._learns(module):
            self._asked.add(id(module))
            self._ask(call, output)

    def _learns(self, module: Any) -> bool:
        held = {id(weight) for known in self._watch.steps.known_optimizers() for weight in known.weights()}
        return any(id(weight) in held and weight.requires_grad for weight in module.parameters())

    def _ask(self, call: RootCall, output: Any) -> None:
        watch, modes = self._watch, [(part, part.training) for part in call.module.modules()]
        with watch.session.paused(), watch.torch.no_grad(), watch.torch.random.fork_rng(devices=[]):
            try:
                call.module.eval()
                again = watch.losses.output_of([replace(call, output=call.module(*call.args, **call.kwargs))])
            finally:
                for part, mode in modes:
                    part.training = mode
            if again is None or again.shape != output.shape or not tensors.readable(again):
                return
            given, told = (part.detach().float().reshape(len(part), -1) for part in (output, again))
            apart = (given - told).norm(dim=1) > _APART * told.norm(dim=1)
            changed = (given.argmax(1) != told.argmax(1)) if given.shape[1] > 1 else apart
        watch.seen.teacher = TeacherFacts(
            kind=type(call.module).__name__, rows=len(given), apart=int(apart.sum()), changed=int(changed.sum()),
            layers=sorted({type(part).__name__ for part, mode in modes if mode and _random(part)}), site=site(call.place))


def _draws(module: Any) -> bool:
    return any(part.training and _random(part) for part in module.modules())


def _random(part: Any) -> bool:
    """Whether a layer does otherwise in training mode: it drops, or normalises by the batch and keeps its statistics."""
    drops = getattr(part, "p", None)
    dropout = isinstance(drops, float) and drops > 0 and "Dropout" in type(part).__name__
    return dropout or getattr(part, "num_batches_tracked", None) is not None


def _sum(module: Any) -> float:
    """Of its first weights: an average that follows a model moves them all."""
    first = next(module.parameters(), None)
    return float(first.detach().double().sum()) if first is not None else 0.0
