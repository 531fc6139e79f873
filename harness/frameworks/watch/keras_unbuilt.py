"""Lists of weights that a script reads off a layer of Keras 3 before it has any, and asks a tape for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import UnaskedFacts
from harness.frameworks.watch.keras_hidden import ids_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_NAMES = ("trainable_variables", "trainable_weights")
_NAMED, _KEPT = 6, 64


class _Told(property):
    """A property that can say what it stands for, as `functools.update_wrapper` wants it to."""


class Unbuilt:
    """Told of what tapes are asked for; reads along where a script reads the weights of a layer."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._read: dict[int, tuple[Any, Place]] = {}
        self._ever: set[int] = set()
        self._steps = 0

    def attach(self, keras: Any) -> None:
        """Hook the layers of one Keras. The older one refuses to list what is not built."""
        for name in _NAMES:
            self._watch.session.patches.replace(keras.layers.Layer, name, self._wrap)

    def _wrap(self, original: Any) -> Any:
        session = self._watch.session

        def read(layer: Any) -> Any:
            found = original.__get__(layer)
            empty = session.active and not found and not getattr(layer, "built", True)
            if empty and session.sites.is_own(sys._getframe(1).f_code.co_filename):
                session.safely("weights that are read", self._empty, layer)
            return found

        return _Told(read)

    def _empty(self, layer: Any) -> None:
        place = self._watch.session.sites.place()
        if place is not None and len(self._read) < _KEPT:
            self._read.setdefault(id(layer), (layer, place))

    def went_back(self, weights: list[Any], models: list[Any]) -> None:
        """A tape was asked for the gradients of `weights`, after these models had run under it."""
        self._ever |= ids_of(weights)
        self._steps += 1
        early = [self._read[id(model)] for model in models if id(model) in self._read]
        if not early:
            return
        left = [(weight, place) for model, place in early for weight in model.trainable_variables if not ids_of([weight]) & self._ever]
        whole = bool(left) and all(not ids_of(model.trainable_variables) & self._ever for model, _ in early)
        self._watch.seen.unasked = UnaskedFacts(
            asked=len(weights), left=[str(weight.path if hasattr(weight, "path") else weight.name) for weight, _ in left[:_NAMED]],
            steps=self._steps, site=site(left[0][1])) if whole else None
