"""Numbers that are taken out of a tape's sight between a model and its loss: with `.numpy()` or `float()`.

NumPy's own functions read a tensor's memory where nothing can listen.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.keras_tape import recorded
from harness.frameworks.watch.sites import HARNESS, Place

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_STEPS = 2
_WAYS = ("numpy", "__array__", "__float__")


class ReadOut:
    """Asks a tape of the first steps, for what is read while it records, which weights that was made of."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._tape: Any = None
        self._read: dict[int, Place] = {}  # by the weights that what was read came from
        self._asking = False

    def attach(self) -> None:
        from tensorflow.python.framework import ops

        for name in _WAYS:
            if hasattr(ops._EagerTensorBase, name):
                self._watch.session.patches.replace(ops._EagerTensorBase, name, self._wrap)

    def entered(self, tape: Any) -> None:
        """A tape begins to record."""
        self._tape = tape if len(self._watch.seen.steps) < _STEPS else None
        if self._tape is not None:
            tape._persistent = True  # so that it can be asked more than the script asks

    def _wrap(self, original: Any) -> Any:
        def read(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            wanted = self._tape is not None and not self._asking and self._watch.session.active and tensor.dtype.is_floating
            if wanted and recorded() and not sys._getframe(1).f_code.co_filename.startswith(HARNESS):
                self._watch.session.safely("what is read under a tape", self._came, tensor)
            return original(tensor, *args, **kwargs)

        return read

    def _came(self, tensor: Any) -> None:
        place = self._watch.session.sites.direct()
        if place is None:
            return
        self._asking = True
        try:
            variables = self._tape.watched_variables()
            with self._tape.stop_recording(), self._watch.session.paused():
                found = self._tape.gradient(tensor, variables)
        finally:
            self._asking = False
        for variable, gradient in zip(variables, found, strict=True):
            if gradient is not None:
                self._read.setdefault(id(variable), place)

    def went_back(self, weights: list[Any], gradients: list[Any]) -> None:
        """A tape was asked for the gradients of these weights."""
        # A variable of Keras 3 holds the one that a tape knows.
        lost = [place for weight, gradient in zip(weights, gradients, strict=True) if gradient is None
                for held in (weight, getattr(weight, "value", None)) if (place := self._read.get(id(held))) is not None]
        if lost and self._watch.seen.probes.unreached_matter is None:
            self._watch.session.noted("cut", lost[0])
            self._watch.seen.probes.unreached_matter = True
