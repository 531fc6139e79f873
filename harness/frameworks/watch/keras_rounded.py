"""Weights of 16 bits in Keras 3: how much of what their optimizer asks for arrives in them.

Most steps are graphs: what is asked for and what has come are added up in a variable, which is read after the step.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import RoundedFacts
from harness.frameworks.watch import halves

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_LARGEST = 1 << 23  # weights
_ASKED, _APART, _MOVES, _STILL = range(4)


class Rounding:
    """Told of every value that an optimizer takes off a weight, and of every step."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._sums: Any = None  # float32[4]: squares that were asked for, and of what is missing; numbers that should move, and stand still
        self._script = [0.0] * 4  # the sums over the script's own steps
        self._optimizer: Any = None
        self._dtype = ""
        self._steps = 0

    def attach(self, keras: Any) -> None:
        """Hook the optimizers."""
        replace = self._watch.session.patches.replace
        for name, sign in (("assign_sub", -1.0), ("assign_add", 1.0)):
            if hasattr(keras.optimizers.Optimizer, name):
                replace(keras.optimizers.Optimizer, name, functools.partial(self._wrap, sign))

    def _wrap(self, sign: float, original: Any) -> Any:
        session = self._watch.session

        def assign(optimizer: Any, variable: Any, value: Any) -> Any:
            # Slots have the type of their weights, and are no weights.
            if not session.active or _dtype(variable) not in halves.HALVES or not getattr(variable, "trainable", False):
                return original(optimizer, variable, value)
            before = session.safely("a weight of 16 bits", self._read, variable)
            made = original(optimizer, variable, value)
            if before is not None:
                session.safely("a weight of 16 bits", self._add, optimizer, variable, before, value, sign)
            return made

        return assign

    @staticmethod
    def _read(variable: Any) -> Any:
        tf = sys.modules["tensorflow"]
        return tf.cast(tf.convert_to_tensor(variable), tf.float32) if math.prod(variable.shape) <= _LARGEST else None

    def _add(self, optimizer: Any, variable: Any, before: Any, value: Any, sign: float) -> None:
        tf = sys.modules["tensorflow"]
        if self._sums is None:
            with tf.init_scope():
                self._sums = tf.Variable([0.0] * 4, trainable=False)
        self._optimizer, self._dtype = optimizer, _dtype(variable)
        asked = sign * tf.cast(tf.convert_to_tensor(value), tf.float32)
        came = tf.cast(tf.convert_to_tensor(variable), tf.float32) - before
        moves = tf.not_equal(asked, 0.0)
        still = tf.logical_and(moves, tf.equal(came, 0.0))
        self._sums.assign_add(tf.stack([tf.reduce_sum(asked**2), tf.reduce_sum((came - asked) ** 2),
                                        *(tf.reduce_sum(tf.cast(mask, tf.float32)) for mask in (moves, still))]))

    def forget(self) -> None:
        """Experiments run the same graphs at rates of their own: what they have added is not the script's."""
        if self._sums is not None:
            self._sums.assign([0.0] * 4)

    def stepped(self) -> None:
        """A step is over."""
        if self._sums is None:
            return
        self._steps += 1
        self._script = sums = [before + float(part) for before, part in zip(self._script, self._sums.numpy(), strict=True)]
        self.forget()
        optimizer = getattr(self._optimizer, "inner_optimizer", self._optimizer)
        rate = float(optimizer.learning_rate)
        if sums[_ASKED] == 0:
            nothing = rate > 0 and any(step.gradient_norm for step in self._watch.seen.steps)
            lost = still = 1.0 if nothing else math.nan
        else:
            lost, still = (sums[_APART] / sums[_ASKED]) ** 0.5, sums[_STILL] / max(sums[_MOVES], 1.0)
        if not math.isfinite(lost):
            return
        self._watch.seen.rounded = RoundedFacts(dtype=self._dtype, lost=lost, still=still, steps=self._steps, kind=type(optimizer).__name__,
                                                learning_rate=rate, nothing=sums[_ASKED] == 0)
        if "halved" not in self._watch.seen.sites:
            self._watch.session.noted("halved", halves.written(self._watch.session.script))


def _dtype(variable: Any) -> str:
    """Keras' variables say it as text, TensorFlow's do not."""
    kind = getattr(variable, "dtype", "")
    return str(getattr(kind, "name", kind))
