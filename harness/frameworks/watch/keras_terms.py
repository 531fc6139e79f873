"""The terms of a loss that a Keras model has for each of its outputs: what each is in the sum, and how large its gradient is alone."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import LossCall
from harness.frameworks.watch import keras_signs
from harness.frameworks.watch.keras_trace import Stop, numpy_of, recording

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_MEASURED, _MOST = 4, 240
_FAR = 10.0  # terms nearer to each other than that are not looked into


class Terms:
    """Is told of the loss calls of every step. Once what each weighs is known, their values enter the record as summed."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._waiting: list[tuple[int, list[tuple[str, float]]]] = []
        self._shares: list[float] | None = None

    def stepped(self, number: int, calls: list[LossCall]) -> None:
        """A step is over."""
        named = [(call.name, call.value) for call in calls if call.value is not None]
        if len(named) < 2 or len(named) < len(calls):
            return
        self._waiting.append((number, named))
        if self._shares is not None:
            self._enter()

    def measure(self, train_step: Any, batches: list[Any], weights: list[Any]) -> None:
        """Take the gradients of each term apart, at the first weights."""
        self._watch.session.safely("the sign of a loss", keras_signs.measure, self._watch, train_step, batches)
        if not self._waiting or self._shares is not None:
            return
        norms: list[list[float]] = []
        for data in batches[:_MEASURED]:
            found = _apart(self._watch.keras, train_step, data, weights)
            if found is None or len(found) != len(self._waiting[0][1]):
                return
            self._shares = [share for share, _ in found]
            norms.append([norm for _, norm in found])
            sizes = [abs(share * value) for share, (_, value) in zip(self._shares, self._waiting[0][1], strict=True)]
            if max(sizes) < _FAR * min(sizes):
                break
        self._enter(norms)

    def _enter(self, norms: list[list[float]] | None = None) -> None:
        terms = self._watch.seen.loss_terms
        for (number, named), gradients in zip(self._waiting, [*(norms or []), *[None] * len(self._waiting)], strict=False):
            for part, ((name, value), share) in enumerate(zip(named, self._shares or [], strict=False)):
                if len(terms) < _MOST:
                    term = {"step": number, "name": name, "value": share * value, "part": part}
                    terms.append(term if gradients is None else term | {"gradient_norm": gradients[part]})
        self._waiting = []


def _apart(keras: Any, train_step: Any, data: Any, weights: list[Any]) -> list[tuple[float, float]] | None:
    """Of each loss call of a step: by what it enters what is differentiated, and the norm of its own gradient so weighed."""
    import tensorflow as tf

    with tf.GradientTape(persistent=True) as tape, recording(keras, stop=True) as record, contextlib.suppress(Stop):
        train_step(data)
    if not record.targets:
        return None
    found = []
    for seen in record.used():
        factor = tape.gradient(record.targets[0], seen.value)
        if factor is None:
            return None
        gradients = tape.gradient(seen.value, weights, output_gradients=factor)
        squares = [float(np.square(numpy_of(tf.convert_to_tensor(one))).sum()) for one in gradients if one is not None]
        found.append((float(tf.reduce_sum(factor)), float(sum(squares)) ** 0.5))
    return found
