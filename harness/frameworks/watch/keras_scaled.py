"""The scale of a loss in Keras' mixed precision: whether the loss is multiplied by what the gradients are divided by."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_MULTIPLYING = ("scale_loss", "get_scaled_loss")  # of Keras 3, of tf_keras
_DIVIDING = ("apply", "get_unscaled_gradients")


class Scaled:
    """Hooks `LossScaleOptimizer`, where Keras has one. The optimizer of Keras 3 divides by itself, whoever hands it gradients."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._multiplied = self._divided = False

    def attach(self, keras: Any) -> None:
        public = getattr(keras.mixed_precision, "LossScaleOptimizer", None) or getattr(keras.optimizers, "LossScaleOptimizer", None)
        kinds = [kind for name, kind in vars(sys.modules[public.__module__]).items() if name.startswith("LossScaleOptimizer")]
        for kind in filter(inspect.isclass, kinds):
            for name in (*_MULTIPLYING, *_DIVIDING):
                # (`apply` of tf_keras does not divide.)
                if hasattr(kind, name) and not (name == "apply" and hasattr(kind, "get_unscaled_gradients")):
                    self._watch.session.patches.replace(kind, name, functools.partial(self._wrap, multiplies=name in _MULTIPLYING))

    def _wrap(self, original: Any, *, multiplies: bool) -> Any:
        session = self._watch.session

        def call(*args: Any, **kwargs: Any) -> Any:
            if session.active:
                self._multiplied |= multiplies
                self._divided |= not multiplies
                if not multiplies:
                    session.safely("a scale", session.site, "divided")
            return original(*args, **kwargs)

        return call

    @staticmethod
    def _scale(model: Any) -> float:
        optimizer = getattr(model, "optimizer", None)
        for name in ("dynamic_scale", "loss_scale"):
            value = getattr(optimizer, name, None)
            if value is not None and not callable(value):
                return float(numpy_of(value)) or 1.0
        return 1.0

    def stepped(self, model: Any) -> float:
        """A step is over: by what the loss that went backward was multiplied, 1 where it was not."""
        facts = self._watch.seen.optimizer
        if facts is not None:
            facts.divided_by = self._scale(model) if self._divided and not self._multiplied else None
        return self._scale(model) if self._multiplied else 1.0
