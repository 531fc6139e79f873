"""Models of a loop with `tf.GradientTape` that take part in every step, are asked for gradients, and never get one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import LaterFacts
from harness.frameworks.watch.keras_hidden import ids_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_STEPS, _NAMED = 10, 4


@dataclass
class _Asked:
    """A model that ran: whether a tape ever recorded that, where it was called first (under a tape, if it ever was), and in how many steps
    none of its weights got a gradient (-1: one did)."""

    model: Any
    place: Place | None
    recorded: bool
    steps: int = 0
    held: int = 0


class Idle:
    """Told of each call of a model, and of what the tape gave."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._asked: dict[int, _Asked] = {}
        self._aside: dict[int, Any] = {}

    def ran(self, model: Any, *, recorded: bool) -> None:
        """A model was called from outside every other; `recorded`: under a tape."""
        if not recorded:
            self._aside[id(model)] = model
        known = self._asked.get(id(model))
        if known is None:
            self._asked[id(model)] = _Asked(model, self._watch.session.sites.place(), recorded)
        elif recorded and not known.recorded:
            known.recorded, known.place = True, self._watch.session.sites.place()

    def went_back(self, weights: list[Any], gradients: list[Any], models: list[Any]) -> None:
        """The tape was asked for the gradients of these weights, after these models had run under it."""
        models, self._aside = [*models, *self._aside.values()], {}
        given = {key: gradient is not None for weight, gradient in zip(weights, gradients, strict=False) for key in ids_of([weight])}
        for known in (self._asked.get(key) for key in {id(model) for model in models}):
            if known is None or known.steps < 0:
                continue
            keys = [ids_of([weight]) & given.keys() for weight in known.model.trainable_variables]
            own = [given[next(iter(found))] for found in keys if found]
            if any(own):
                known.steps = -1
            elif own:
                known.steps, known.held = known.steps + 1, len(own)
        idle = next((known for known in self._asked.values() if known.steps >= _STEPS), None)
        # Where none of the weights that were asked for gets a gradient, Keras says so itself.
        if idle is not None and self._watch.seen.idle is None and any(given.values()):
            names = [weight.name for weight in idle.model.trainable_variables][:_NAMED]
            self._watch.seen.idle = LaterFacts(step=idle.steps, held=idle.held, foreign=0, lacking=idle.held, left=names,
                                               recorded=idle.recorded, site=site(idle.place))
