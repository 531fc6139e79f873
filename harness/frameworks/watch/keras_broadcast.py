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
_PRODUCTS, _DIFFERENCES = ("__mul__", "__rmul__"), ("__sub__", "__rsub__")
_PICKING = ("reduce_sum", "reduce_max", "gather")
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
        self._chosen: dict[int, Any] = {}  # scores of several actions or classes, multiplied by which of them is meant
        self._picked: dict[int, Any] = {}  # the score of one for each row

    def lost(self, value: Any) -> None:
        """A function of losses gave this."""
        if len(value.shape) == 0:
            self._means = _kept(self._means, value)
        elif len(value.shape) == 1 and (value.shape[0] or 0) > 1:
            self._losses = _kept(self._losses, value)

    def attach(self) -> None:
        import tensorflow as tf

        for name in _OPERATORS:
            self._watch.session.patches.replace(tf.Tensor, name, functools.partial(
                self._wrap, multiplies=name in _PRODUCTS, differs=name in _DIFFERENCES))
        for owner, name in [(owner, name) for owner in (tf, tf.math) for name in _PICKING if hasattr(owner, name)]:
            self._watch.session.patches.replace(owner, name, self._wrap_pick)

    def _wrap_pick(self, original: Any) -> Any:
        @functools.wraps(original)
        def pick(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            given = id(args[0]) if args else None
            if (given in self._chosen or given in self._outputs()) and self._looking() and len(getattr(args[0], "shape", ())) == 2:
                shape = tuple(made.shape)
                if shape in (tuple(args[0].shape[:1]), (args[0].shape[0], 1)):
                    self._picked = _kept(self._picked, made)
            return made

        return pick

    def _wrap(self, original: Any, *, multiplies: bool, differs: bool) -> Any:
        @functools.wraps(original)
        def operator(left: Any, right: Any) -> Any:
            made = original(left, right)
            outputs = self._outputs()
            if multiplies and (id(left) in self._means) != (id(right) in self._means) and self._looking():
                factors = right if id(left) in self._means else left
                self._watch.session.safely("a mask of a mean", masked_mean.note, self._watch.seen, np.asarray(numpy_of(factors)),
                                           self._watch.session.sites.here())
            if multiplies and self._looking():
                for one, other in ((left, right), (right, left)):
                    if id(one) in outputs and len(one.shape) == 2 and tuple(one.shape) == np.shape(other):
                        self._chosen = _kept(self._chosen, made)
            if (id(left) in self._losses) != (id(right) in self._losses) and self._looking():
                rows, other = (left, right) if id(left) in self._losses else (right, left)
                self._watch.session.safely("weights of rows", self._weighed, rows, other, made)
            elif outputs and (id(left) in outputs) != (id(right) in outputs) and self._looking():
                pred, other = (left, right) if id(left) in outputs else (right, left)
                self._watch.session.safely("a broadcast", self._combined, pred, other, made, outputs)
            elif differs and (id(left) in self._picked) != (id(right) in self._picked) and self._looking():
                pred, other = (left, right) if id(left) in self._picked else (right, left)
                self._watch.session.safely("a broadcast", self._combined, pred, other, made, {})
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
        if size == (*shape, 1) and len(shape) == 1 and not outputs:
            pred, other, shape, size = other, pred, size, shape
        if len(shape) != 2 or shape[1] != 1 or shape[0] < 2:
            return
        if size in ((), (1,), shape):
            outputs[id(made)] = made  # still a number of the model's for each row
        elif size == shape[:1] and len(self._watch.seen.broadcasts) < _MOST and not np.array_equal(numpy_of(other), numpy_of(pred)[:, 0]):
            self._watch.seen.broadcasts.append(LossCall(
                name="other", step=len(self._watch.seen.steps) + 1, inputs=tensors.facts(numpy_of(pred)),
                target=tensors.facts(np.asarray(numpy_of(other))), site=self._watch.session.sites.here()))


def _kept(known: dict[int, Any], value: Any) -> dict[int, Any]:
    """With one more, by its id; begun anew where there are many. They are kept so that their ids are not given to others."""
    return {**(known if len(known) < _KEPT else {}), id(value): value}


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
