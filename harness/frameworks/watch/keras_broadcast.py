"""Outputs `(N, 1)` of a model that a loop of the script's own puts together with `(N,)`: TensorFlow makes a table of all pairs of rows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import LossCall, PairedFacts
from harness.frameworks.watch import masked_mean, tensors
from harness.frameworks.watch.keras_bare import of_variable
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_OPERATORS = ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__matmul__")
_PRODUCTS = ("__mul__", "__rmul__")
_MOST, _KEPT, _ROWS, _SAME = 3, 64, 4, 1e-4


class Broadcasts:
    """Hooks the operators of tensors. `outputs`: what models gave since the last step, by id; `looking`: whether the loop is watched;
    `bare`: whether its step runs on variables of the script's own, so that what is made of these are its outputs."""

    def __init__(self, watch: KerasWatcher, outputs: Callable[[], dict[int, Any]], looking: Callable[[], bool],
                 bare: Callable[[], bool]) -> None:
        self._watch, self._bare = watch, bare
        self._outputs = outputs
        self._looking = looking
        self._losses: dict[int, Any] = {}  # of single rows, kept so that their numbers are not given to others
        self._means: dict[int, Any] = {}  # of all rows together

    def lost(self, value: Any) -> None:
        """A function of losses gave this."""
        if len(value.shape) == 0:
            self._means = {**(self._means if len(self._means) < _KEPT else {}), id(value): value}
        elif len(value.shape) == 1 and (value.shape[0] or 0) > 1:
            self._losses = {**(self._losses if len(self._losses) < _KEPT else {}), id(value): value}

    def attach(self) -> None:
        import tensorflow as tf

        for name in _OPERATORS:
            self._watch.session.patches.replace(tf.Tensor, name, functools.partial(self._wrap, multiplies=name in _PRODUCTS))

    def _wrap(self, original: Any, *, multiplies: bool) -> Any:
        @functools.wraps(original)
        def operator(left: Any, right: Any) -> Any:
            made = original(left, right)
            outputs = self._outputs()
            if multiplies and (id(left) in self._means) != (id(right) in self._means) and self._looking():
                factors = right if id(left) in self._means else left
                self._watch.session.safely("a mask of a mean", masked_mean.note, self._watch.seen, np.asarray(numpy_of(factors)),
                                           self._watch.session.sites.here())
            if (id(left) in self._losses) != (id(right) in self._losses) and self._looking():
                rows, other = (left, right) if id(left) in self._losses else (right, left)
                self._watch.session.safely("weights of rows", self._weighed, rows, other, made)
            elif outputs and (id(left) in outputs) != (id(right) in outputs) and self._looking():
                pred, other = (left, right) if id(left) in outputs else (right, left)
                self._watch.session.safely("a broadcast", self._combined, pred, other, made, outputs)
            elif self._bare() and of_variable(left, right) and self._looking() and len(outputs) < _KEPT:
                outputs[id(made)] = made
            return made

        return operator

    def _weighed(self, rows: Any, other: Any, made: Any) -> None:
        size, seen = np.shape(other), self._watch.seen
        if size == (rows.shape[0], 1) and np.shape(made) == (rows.shape[0],) * 2:
            seen.paired = seen.paired or PairedFacts(losses=list(rows.shape), weights=list(size), site=self._watch.session.sites.here())

    def _combined(self, pred: Any, other: Any, made: Any, outputs: dict[int, Any]) -> None:
        shape, size = tuple(pred.shape), np.shape(other)
        if len(shape) != 2 or shape[1] != 1 or shape[0] < 2:
            return
        if size in ((), (1,), shape):
            outputs[id(made)] = made  # still a number of the model's for each row
        elif size == shape[:1] and len(self._watch.seen.broadcasts) < _MOST and not np.array_equal(numpy_of(other), numpy_of(pred)[:, 0]):
            self._watch.seen.broadcasts.append(LossCall(
                name="other", step=len(self._watch.seen.steps) + 1, inputs=tensors.facts(numpy_of(pred)),
                target=tensors.facts(np.asarray(numpy_of(other))), site=self._watch.session.sites.here()))


def lines_up(loss: Any, true: Any, pred: Any) -> bool:
    """Whether a loss object of the script's own holds each row of an output `(N, 1)` against that row's target of `(N,)`, or the reverse: a
    table of all pairs comes to the same in whatever order the targets are."""
    import tensorflow as tf

    shapes = np.shape(true), np.shape(pred)
    rows = max(shapes[0] or (0,))
    if sorted(shapes) != [(rows,), (rows, 1)] or rows < _ROWS:
        return False
    with tf.init_scope():
        slope = np.linspace(0.5, 1, rows, dtype=np.float32).reshape(shapes[1])  # outputs may all be the same at first
        answers = tf.constant(np.asarray(pred) * slope + 0.01 * slope)
        ordered = np.sort(np.asarray(true), 0)
        if ordered.min() == ordered.max():  # rows of one class have no order
            ordered[rows // 2:] = 0 if ordered.max() == 1 else ordered.max() + 1
        found = [np.asarray(numpy_of(loss.call(tf.constant(target), answers))) for target in (ordered, ordered[::-1])]
    return not np.isclose(found[0].mean(), found[1].mean(), rtol=_SAME, equal_nan=True)
