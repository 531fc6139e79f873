"""With which sign the values of Keras' loss functions enter what is differentiated."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import NegatedFacts
from harness.frameworks.watch import keras_functions, quantiles, usual_losses, written
from harness.frameworks.watch.keras_trace import LossSeen, Part, Stop, numpy_of, recording
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_BATCHES, _PARTS, _EVEN = 3, 8, 1e-3


def measure(watch: KerasWatcher, train_step: Any, batches: list[Any]) -> None:
    """Of steps of `fit`, without a graph: where every call of a loss function enters the loss with a minus, it is noted."""
    import tensorflow as tf

    for data in batches[:_BATCHES]:
        with (tf.GradientTape(persistent=True) as tape, recording(watch.keras, stop=True, place=watch.session.sites.place) as record,
              contextlib.suppress(Stop)):
            train_step(data)
        used = record.used()
        if record.targets and len(used) == 1 and quantiles.levels(watch.session.script):
            pull = tape.gradient(record.targets[0], used[0].pred)
            if pull is not None:
                quantiles.note(watch.seen, watch.session.script, np.asarray(numpy_of(pull)))
        if record.targets and _by_hand(watch, used):
            continue
        if not record.targets or not note(watch, record.parts, functools.partial(tape.gradient, record.targets[0])):
            watch.seen.negated = None
            return


def _by_hand(watch: KerasWatcher, used: list[LossSeen]) -> bool:
    """Whether the only loss of a step is a function of the script's own, and by its value a usual one with a minus."""
    if len(used) != 1 or used[0].weighted or not hasattr(getattr(used[0].loss, "fn", None), "__code__"):
        return False
    function = used[0].loss.fn
    if not watch.session.sites.is_own(function.__code__.co_filename):
        return False
    true, pred, value = (np.asarray(numpy_of(part)) for part in (used[0].true, used[0].pred, used[0].value))
    found = usual_losses.of_rows(pred, true.reshape(-1) if true.ndim == 2 and true.shape[1] == 1 and pred.shape[-1] > 1 else true)
    factor = float(value.reshape(())) / found[1] if found is not None and found[1] and value.size == 1 else 0.0
    known = watch.seen.negated
    if found is None or not factor < 0 or (known is not None and abs(factor - known.factors[-1]) > _EVEN * abs(factor)):
        return False
    place = site(written.returns(function.__code__, watch.session.sites))
    known = watch.seen.negated = known or NegatedFacts(name=found[0], site=place, by_hand=True)
    known.factors.append(factor)
    return True


def note(watch: KerasWatcher, parts: list[Part], gradient: Callable[[Any], Any]) -> bool:
    """One step. `gradient`: of what is differentiated, by the value of a loss. Whether all that enter it do so with a minus."""
    found = [(part, back) for part in parts if (back := gradient(part.value)) is not None]
    factors = [_factor(np.asarray(numpy_of(back))) for _, back in found]
    lowest = [factor for factor in factors if factor is not None]
    if not factors or len(lowest) < len(factors) or max(lowest) >= 0:
        return False
    last = found[-1][0]
    watch.seen.negated = watch.seen.negated or NegatedFacts(name=last.name, site=site(last.place))
    watch.seen.negated.factors.append(min(lowest))
    return True


class OfTapes:
    """Loops of a script's own: hooks the loss functions that run under a tape, and is told of every tape that is asked for gradients."""

    def __init__(self, watch: KerasWatcher, looking: Callable[[], bool]) -> None:
        self._watch, self._looking = watch, looking
        self._parts: list[Part] = []
        self._inside = False
        self._over = False

    def attach(self, keras: Any) -> None:
        import tensorflow as tf

        named = [*keras_functions.OF_KERAS, *keras_functions.UNDESCRIBED]
        for owner, names in ((keras.losses.Loss, ["__call__"]), (keras.losses, named), (tf.nn, keras_functions.OF_TENSORFLOW)):
            for name in names:
                if hasattr(owner, name):
                    self._watch.session.patches.replace(owner, name, self._wrap)

    def _wrap(self, original: Any) -> Any:
        def loss(*args: Any, **kwargs: Any) -> Any:
            if self._over or self._inside or not self._looking():
                return original(*args, **kwargs)
            self._inside = True
            try:
                found = original(*args, **kwargs)
            finally:
                self._inside = False
            name = type(args[0]).__name__ if original.__name__ == "__call__" else original.__name__
            self._parts = [*self._parts, Part(name, found, self._watch.session.sites.place())][-_PARTS:]
            return found

        return loss

    def went_back(self, tape: Any, target: Any) -> None:
        """A tape was asked for gradients of `target`. One that may be asked once only tells nothing."""
        parts, self._parts = self._parts, []
        if self._over or not tape._persistent:
            return
        with self._watch.session.paused():
            self._over = not note(self._watch, parts, functools.partial(tape.gradient, target))
        if self._over:
            self._watch.seen.negated = None


def _factor(back: np.ndarray[Any, Any]) -> float | None:
    """By what the mean of a loss's rows enters the whole; None where each row does so in a way of its own."""
    if not back.size or float(back.max() - back.min()) > _EVEN * float(np.abs(back).max()):
        return None
    return float(back.sum())
