"""A step as far as its loss, in inference mode: op by op, or in a graph where that takes long.

A small transformer's forward pass takes five times as long op by op as in a graph, and experiments ask for some dozens.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.frameworks import autograph
from harness.frameworks.watch.keras_leaving import here
from harness.frameworks.watch.keras_trace import LossSeen, Stop, numpy_of, recording

_SLOW_S = 0.05


class Forward:
    """Loss of a batch, and what its losses compared. `train_step` is the model's own; the graph is made once and reads the weights of now.

    Python attributes of layers are those that they had when the graph was made: whoever changes them asks `op_by_op`.
    """

    def __init__(self, keras: Any, train_step: Callable[[Any], Any]) -> None:
        self._keras, self._train_step = keras, train_step
        self._calls, self._seconds = 0, 0.0
        self._graph: Any = None
        self._refused = False

    def __call__(self, data: Any) -> tuple[float, list[tuple[Any, Any]]]:
        """The loss, and (true, predicted) of every loss call, as tensors."""
        if not self._refused and self._calls > 1 and self._seconds > _SLOW_S:
            try:
                loss, compared = self._in_graph(data)
                return float(numpy_of(loss)), list(compared)
            except Exception:  # noqa: BLE001 - a script's own step need not work in a graph
                self._refused = True
        begun = time.perf_counter()
        loss, used = self.op_by_op(data)
        self._calls, self._seconds = self._calls + 1, time.perf_counter() - begun
        return loss, [(seen.true, seen.pred) for seen in used]

    def op_by_op(self, data: Any, *, evaluating: bool = True) -> tuple[float, list[LossSeen]]:
        """The same without a graph: the loss and the loss calls. `evaluating`: in inference mode, else as the script asks for it."""
        with recording(self._keras, evaluating=evaluating, stop=True) as record:
            try:
                self._train_step(data)
            except Stop:
                return float(numpy_of(record.targets[0])), record.used()
        used = record.used()
        return (float(np.mean(numpy_of(used[-1].value))) if used else math.nan), used

    def _in_graph(self, data: Any) -> tuple[Any, Any]:
        import tensorflow as tf

        if self._graph is None:
            def run(given: Any) -> tuple[Any, Any]:
                with recording(self._keras, evaluating=True, stop=True) as record:
                    try:
                        autograph.call(self._train_step, given)
                    except Stop:
                        loss = tf.reduce_sum(record.targets[0])
                    else:
                        loss = tf.reduce_mean(record.used()[-1].value)
                used = record.used()
                if not all(tf.is_tensor(part) and here(part) for seen in used for part in (seen.true, seen.pred)):
                    raise NotImplementedError("what a loss compares does not leave the graph")
                return loss, tuple((seen.true, seen.pred) for seen in used)

            self._graph = tf.function(tf.autograph.experimental.do_not_convert(run), reduce_retracing=True)
        loss, compared = self._graph(data)
        return loss, compared
