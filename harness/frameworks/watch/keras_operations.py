"""The operation in which the first NaN or infinity of an eager TensorFlow step is born, with the line that called it.

TensorFlow tells a callback of every operation that runs eagerly. What a loss was made of by hand, with no layer or loss object to look
into, is seen so only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import BadBirth
from harness.frameworks.watch import keras_gradients, tensors
from harness.frameworks.watch.keras_heard import Operation, listening
from harness.frameworks.watch.keras_tape import recorded
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

# An infinity out of these is meant: it masks.
_CHOOSING = ("Select", "SelectV2", "Fill", "Cast", "ScatterNd", "TensorScatterUpdate")


def birth(operations: list[Operation]) -> Operation | None:
    """The first operation that makes a NaN of what holds none; where that is an infinity of before (`0 * log(0)`), the one that made it."""
    first = next((found for found in operations if _any(np.isnan, found.made) and not _any(np.isnan, found.given)), None)
    if first is None:
        return next((found for found in operations if _any(np.isinf, found.made) and not _any(_bad, found.given)), None)
    made = {id(output): found for found in operations for output in found.made}
    sources = [made[id(part)] for part in first.given if id(part) in made and _any(np.isinf, [part])]
    while sources and any(_any(_bad, found.given) for found in sources):
        sources = [made[id(part)] for found in sources for part in found.given if id(part) in made and _any(np.isinf, [part])]
    source = next(iter(sources), None)
    return first if source is None or source.kind in _CHOOSING or source.place is None else source


def found_in(operations: list[Operation], step: int) -> BadBirth | None:
    """That operation, as a fact of a step."""
    found = birth(operations)
    if found is None:
        return None
    made = np.asarray(numpy_of(found.made[0]))
    return BadBirth(step=step, what="loss", name=found.kind, rows=tensors.bad_rows(made) if made.ndim else [], site=site(found.place))


class Operations:
    """Told of the tapes of a script's own loop; looks for where a loss that is no number was born."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._heard: list[Operation] = []
        self._listening = contextlib.ExitStack()
        self._back: int | None = None  # how many were heard before the gradient was asked for
        self._found: BadBirth | None = None
        self._again: tuple[Any, int] = None, 0

    def attach(self) -> None:
        """Hook tapes: before everything else that asks them."""
        import tensorflow as tf

        self._watch.session.patches.replace(tf.GradientTape, "__enter__", self._wrap_enter)
        self._watch.session.patches.replace(tf.GradientTape, "gradient", self._wrap_gradient)
        self._watch.session.patches.calling(self._end)  # a tape may be open when the hooks go

    @property
    def _looking(self) -> bool:
        import tensorflow as tf

        return self._watch.session.active and not self._watch.fits.running and tf.executing_eagerly()

    def _wrap_enter(self, original: Any) -> Any:
        def __enter__(tape: Any) -> Any:  # noqa: N807
            if self._looking and not recorded():
                self._watch.session.safely("operations", self._begins)
            if self._looking and tape._persistent and tape._tape is not None:  # it goes on where it was
                self._watch.session.safely("a tape", self._goes_on, tape)
            return original(tape)

        return __enter__

    def _wrap_gradient(self, original: Any) -> Any:
        def gradient(tape: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._looking or self._back is not None:
                return original(tape, target, *args, **kwargs)
            self._back, found = len(self._heard), None
            try:
                found = original(tape, target, *args, **kwargs)
            finally:
                self._watch.session.safely("operations", self._asked, target, found)
                self._back = None
            return found

        return gradient

    def _goes_on(self, tape: Any) -> None:
        known, times = self._again
        self._again = tape, times + 1 if known is tape else 1
        memory = self._watch.seen.memory
        memory.reentered = max(memory.reentered, self._again[1])
        self._watch.session.site("reentered")

    def _begins(self) -> None:
        self._conclude()
        if self._watch.in_full and not self._watch.seen.births:
            self._end()
            self._listening.enter_context(listening(self._heard, self._place))

    def _place(self) -> Place | None:
        return self._watch.session.sites.place() if self._back is None else None

    def _asked(self, target: Any, gradients: Any) -> None:
        import tensorflow as tf

        def finite(values: Any) -> bool:
            parts = tf.nest.flatten(values, expand_composites=True)
            return all(keras_gradients.finite(part) for part in parts if tf.is_tensor(part))

        heard, step = list(self._heard), len(self._watch.seen.steps) + 1
        self._end()
        if self._found is not None:
            return
        if not finite(target):
            self._found = found_in(heard[:self._back], step)
        elif not finite(gradients) and (found := keras_gradients.underivable(heard[:self._back], heard[self._back:])) is not None:
            self._found = BadBirth(step=step, what="gradient", name=f"{found[0]} in the backward pass", site=site(found[1]))

    def finish(self) -> None:
        """The script is over."""
        self._end()
        self._conclude()

    def _end(self) -> None:
        self._listening.close()
        self._heard.clear()

    def _conclude(self) -> None:
        """What was found counts where nothing that looks into layers has found more by the next step."""
        if self._found is not None and not self._watch.seen.births:
            self._watch.seen.births.append(self._found)


def _bad(values: Any) -> Any:
    return ~np.isfinite(values)


def _any(test: Callable[[Any], Any], parts: list[Any]) -> bool:
    """Whether a test holds anywhere in what these tensors hold of floats."""
    floats = (part for part in parts if getattr(part, "dtype", None) is not None and getattr(part.dtype, "is_floating", False))
    return any(bool(np.any(test(numpy_of(part).astype(np.float64)))) for part in floats)
