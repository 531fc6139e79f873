"""States of Keras' recurrent layers, from one step to the next: handed over by a loop, or kept by a stateful layer in `fit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import CarriedFacts
from harness.frameworks.watch.carried import Carried
from harness.frameworks.watch.keras_tape import recorded
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher


class CarriedStates:
    """Wraps the calls of recurrent layers; told of steps, and of what `fit` is about to train."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self.carried = Carried(watch.session.sites)
        self._resets = 0
        self._states: dict[int, int] = {}  # by function, which of its arguments

    def attach(self, keras: Any) -> None:
        replace, kind = self._watch.session.patches.replace, keras.layers.RNN

        def inherited(layer: Any, *args: Any, **kwargs: Any) -> Any:
            above: Any = super(kind, layer)
            return above.__call__(*args, **kwargs)  # looked up anew, since others stand in for it for a while

        own = "__call__" in vars(kind)
        replace(kind, "__call__", lambda original: self._wrap(original if own else inherited))
        for name in ("reset_state", "reset_states"):
            if hasattr(keras.layers.RNN, name):
                replace(keras.layers.RNN, name, self._wrap_reset)

    def _wrap(self, original: Any) -> Any:
        import tensorflow as tf

        watch = self._watch

        def __call__(layer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            looks = (watch.session.active and self.carried.looks and tf.executing_eagerly() and not watch.fits.running
                     and bool(getattr(layer, "return_state", False)) and recorded())
            if looks:
                state = kwargs.get("initial_state", args[1] if len(args) > 1 else None)
                watch.session.safely("a recurrent state", self.carried.begins, layer, state, lambda: args[:1])
            made = original(layer, *args, **kwargs)
            if looks and isinstance(made, list | tuple):
                watch.session.safely("a recurrent state", self.carried.ended, layer, list(made[1:]))
            return made

        return __call__

    def ran(self, function: Any, name: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """Run a function of the script's own, which is given `args`: what it makes. The argument that is zeros first may be a state."""
        if not self.carried.looks:
            return run()
        self._watch.session.safely("a state", self._begins, function, name, args)
        made = run()
        if self._states.get(id(function), -1) >= 0 and isinstance(made, list | tuple):
            self._watch.session.safely("a state", self.carried.ended, function, [part for part in made if _wide(part)])
        return made

    def rested(self, function: Any, name: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """As `ran`, of a function whose graph runs, in which there may have been a step."""
        made = self.ran(function, name, args, run)
        self.carried.stepped()
        return made

    def _begins(self, function: Any, name: str, args: tuple[Any, ...]) -> None:
        zeros = (number for number, part in enumerate(args) if _wide(part) and not np.any(part))
        place = self._states.setdefault(id(function), next(zeros, -1))
        if 0 <= place < len(args):
            self.carried.begins(function, args[place], lambda: [*args[:place], *args[place + 1:]], name=name)

    def _wrap_reset(self, original: Any) -> Any:
        def reset(layer: Any, *args: Any, **kwargs: Any) -> Any:
            self._resets += 1
            return original(layer, *args, **kwargs)

        return reset

    def finish(self) -> None:
        """What was seen, as facts. A stateful layer carries over every step of `fit` that nobody resets it before."""
        watch = self._watch
        watch.seen.carried = self.carried.facts
        loader, model = watch.data.current, watch.steps.model
        if watch.seen.carried is not None or watch.seen.model is None or not watch.seen.model.carries or loader is None or model is None:
            return
        recurrent = (layer for layer in model._flatten_layers() if hasattr(layer, "cell"))
        layer = next((layer for layer in recurrent if getattr(layer, "stateful", False) is True), None)
        steps = len(watch.seen.steps)
        if layer is not None and loader.facts.shuffled:
            carried = max(0, steps - self._resets)
            watch.seen.carried = CarriedFacts(kind=type(layer).__name__, stateful=True, steps=steps, carried=carried, drawn=carried,
                                              turned=carried, site=site(watch.compiles.place_of(layer)))


def _wide(value: Any) -> bool:
    """Whether it may be a state, float[rows, units]."""
    return hasattr(value, "numpy") and len(value.shape) > 1 and value.dtype.is_floating
