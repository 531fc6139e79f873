"""Rows of one batch inside a Keras model: where they become all alike, and where they are mixed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.probe_facts import RowFacts
from harness.frameworks.watch import neighbours, shifts
from harness.frameworks.watch.keras_trace import numpy_of, patched
from harness.frameworks.watch.sites import Place, Sites, site

if TYPE_CHECKING:
    from types import FrameType

_LARGEST = 1 << 22
_CALLS = 2000
_SOFTMAX = frozenset(("Softmax", "LogSoftmax"))
_LOSSES = frozenset(("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"))
_TIES = ("MatMul", "BatchMatMul", "SparseTensorDense", "SparseMatMul", "Einsum", "Gather", "SegmentSum", "SegmentMean", "UnsortedSegment",
         "Scatter", "TensorScatter")
_ATTENTION = frozenset(("MultiHeadAttention", "Attention", "AdditiveAttention", "GroupedQueryAttention"))

Run = Callable[[], Any]


@dataclass
class _Seen:
    """One operation inside a model: its result, its type (`Relu`), where the script asks for it, and in which layer. `made`: the line that
    made that layer, or what it is a part of; `given`: its first input."""

    result: neighbours.Array
    name: str
    place: Place | None
    layer: str
    made: Place | None
    given: neighbours.Array | None = None


class Inside:
    """Looks at the operations of eager forward passes. `built`: where a layer was made."""

    def __init__(self, keras: Any, sites: Sites, built: Callable[[Any], Place | None]) -> None:
        self._keras = keras
        self._sites = sites
        self._built = built

    def lost(self, run: Run, rows: int) -> tuple[Place | None, str] | None:
        """Where the rows of a batch become all alike: the place of the operation after the last one whose rows still differ, and its type.

        None where it is in none of them: the rows were alike before the first.
        """
        calls = [call for call in self._calls(run) if call.result.ndim and call.result.shape[0] == rows]
        differ = [number for number, call in enumerate(calls) if not neighbours.alike(call.result)]
        after = calls[differ[-1] + 1:] if differ else []
        return (after[0].place, after[0].name) if after else None

    def mixing(self, plain: Run, replaced: Run, rows: int, found: RowFacts) -> None:
        """Note the first operation after which the row that was kept is not what it was, and the layer that it is in."""
        since: list[str] = []
        for first, second in zip(self._calls(plain), self._calls(replaced), strict=False):
            if first.result.shape != second.result.shape:
                return
            kept = neighbours.keeps(first.result, second.result, rows, rows - 1)
            since = [] if kept else [*since, first.name]
            if kept is False:
                found.site, found.module, found.softmax = site(first.place), first.layer, bool(set(since) & _SOFTMAX)
                found.tied = first.name.startswith(_TIES)
                return

    def place(self, plain: Run, moved: Run, rows: int, found: RowFacts) -> None:
        """Note the first operation whose result does not move with the rows: it has something else for each place of a batch."""
        for first, second in zip(self._calls(plain), self._calls(moved), strict=False):
            if neighbours.moves(first.result, second.result, rows) is False:
                found.placed, found.site, found.module = True, site(first.place), first.layer
                return

    def softmax_of_one(self, run: Run) -> tuple[Place, list[int]] | None:
        """Where the script's own code takes a softmax of single numbers, all of them 1 therefore, beside a longer axis; and their shape."""
        for call in self._calls(run, _SOFTMAX):
            last = call.result.shape[-2:]
            one = call.result.ndim > 2 and last[-1] == 1 and last[0] > 1 and call.name == "Softmax"
            if one and call.place is not None and call.layer.partition(": ")[2] not in _ATTENTION:
                return call.place, list(call.result.shape)
        return None

    def softmax_twice(self, run: Run) -> Place | None:
        """Where the first of two softmaxes is taken, the second of which (or a loss that takes one) is given what the first has made."""
        first: list[_Seen] = []
        for call in self._calls(run, _SOFTMAX | _LOSSES, outside=True):
            for one in first if call.given is not None else []:
                if call.given is not None and one.result.size == call.given.size and np.array_equal(one.result.ravel(), call.given.ravel()):
                    return one.place
            if call.name == "Softmax" and call.result.shape[-1] > 1:
                first.append(call)
        return None

    def ahead(self, plain: Run, changed: Run, exchange: shifts.Exchange) -> Place | None:
        """Where later tokens first get into what is made of earlier ones; `changed` runs with some ids of the `exchange` for others."""
        calls = zip(self._calls(plain), self._calls(changed), strict=False)
        found = next((first for first, second in calls if shifts.ahead(first.result, second.result, exchange)), None)
        if found is None:
            return None
        return found.made if found.made is not None and shifts.set_when_made(found.layer.partition(": ")[2]) else found.place

    def _calls(self, run: Run, only: frozenset[str] | None = None, *, outside: bool = False) -> list[_Seen]:
        """The operations of a run within its layers, or `outside` of them as well; `only` those of some types, with what they are given."""
        from tensorflow.python.framework import op_callbacks

        found: list[_Seen] = []
        layers: list[Any] = []
        frames: list[FrameType] = []

        def enter(original: Any) -> Any:
            def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
                if layers and layers[-1] is layer:
                    return original(layer, *args, **kwargs)  # of a model both patches see the call
                layers.append(layer)
                frames.append(sys._getframe())
                try:
                    return original(layer, *args, **kwargs)
                finally:
                    layers.pop()
                    frames.pop()

            return wrapped

        def look(op_type: Any, inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
            del op_name
            name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
            asked = name in only if only else name != "ReadVariableOp"
            if graph is not None or not (layers or outside) or len(found) >= _CALLS or not asked:
                return
            value = next(iter(outputs), None)
            if value is not None and value.dtype.is_floating and 0 < int(value.shape.num_elements() or 0) < _LARGEST:
                place, kind = (self._place(frames[0], layers), f"{layers[-1].name}: {type(layers[-1]).__name__}") if layers else (None, "")
                given = np.copy(numpy_of(inputs[0])) if only else None
                found.append(_Seen(np.copy(numpy_of(value)), name, place, kind, self._made(layers), given))

        op_callbacks.add_op_callback(look)
        try:
            with patched(self._keras.layers.Layer, "__call__", enter), patched(self._keras.Model, "__call__", enter):
                run()
        finally:
            op_callbacks.remove_op_callback(look)
        return found

    def _place(self, outermost: FrameType, layers: list[Any]) -> Place | None:
        """The script's own line inside its model, else the one that made the layer, or what that is a part of."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame is not outermost:
            if self._sites.is_own(frame.f_code.co_filename):
                return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
            frame = frame.f_back
        return self._made(layers)

    def _made(self, layers: list[Any]) -> Place | None:
        return next((place for layer in reversed(layers) if (place := self._built(layer)) is not None), None)
