"""Outputs of a model that a loop of the script's own cuts into other pieces: `(N, T, C)` reshaped to `(N, C, T)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import LossCall
from harness.checks.tensor_facts import TensorFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_MOST = 3


class Cut:
    """Hooks `tf.reshape`. `outputs`: what models gave since the last step, by id; `looking`: whether the loop is watched."""

    def __init__(self, watch: KerasWatcher, outputs: Callable[[], dict[int, Any]], looking: Callable[[], bool]) -> None:
        self._watch, self._outputs, self._looking = watch, outputs, looking
        self._seen = 0

    def attach(self) -> None:
        import tensorflow as tf

        self._watch.session.patches.replace(tf, "reshape", self._wrap)

    def _wrap(self, original: Any) -> Any:
        @functools.wraps(original)
        def reshape(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(tensor, *args, **kwargs)
            if id(tensor) in self._outputs() and self._seen < _MOST and self._looking():
                self._watch.session.safely("a reshape", self._cut, tensor, made)
            return made

        return reshape

    def _cut(self, tensor: Any, made: Any) -> None:
        """The same axes in another order, whose numbers have stayed where they were."""
        before, after = list(tensor.shape), list(made.shape)
        inner = before[1:], after[1:]
        if len(before) < 3 or len(after) != len(before) or None in inner[0] or 1 in inner[0] or inner[0] == inner[1]:
            return
        if sorted(inner[0]) != sorted(size or 0 for size in inner[1]) or not tensor.dtype.is_floating:
            return
        self._seen += 1
        rows = before[0] or 0
        self._watch.seen.broadcasts.append(LossCall(
            name="other", step=len(self._watch.seen.steps) + 1, cut_from=[rows, *inner[0]],
            inputs=TensorFacts(shape=(rows, *inner[1]), dtype=tensor.dtype.name), site=self._watch.session.sites.here()))
