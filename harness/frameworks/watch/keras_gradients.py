"""Where a gradient stops being a number in a Keras step: the operation whose derivative is none, and the line that called it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.frameworks.watch.keras_heard import Operation, listening
from harness.frameworks.watch.keras_trace import Stop, numpy_of, patched
from harness.frameworks.watch.sites import Place

_STEPS = ("StopGradient", "PreventGradient", "Round", "Rint", "Floor", "Ceil", "Sign", "PyFunc", "PyFuncStateless")
_MEASURING = ("Shape", "ShapeN", "Size", "Rank")


def birth(run: Callable[[], Any], place: Callable[[], Place | None]) -> tuple[str, Place | None] | None:
    """Run one step eagerly as far as its gradient; what `underivable` says of it."""
    import tensorflow as tf

    heard: list[Operation] = []
    back: list[int] = []

    def gradient(original: Any) -> Any:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            back.append(len(heard))
            original(*args, **kwargs)
            raise Stop

        return wrapped

    with contextlib.suppress(Stop), listening(heard, lambda: None if back else place()), patched(tf.GradientTape, "gradient", gradient):
        run()
    return underivable(heard[:back[0]], heard[back[0]:]) if back else None


def underivable(forward: list[Operation], back: list[Operation]) -> tuple[str, Place | None] | None:
    """The first operation on the way back that makes something not finite of what is finite: the name of the one that it differentiates
    (`Sqrt`), and where that was called, None where that is not known. None where every gradient is finite, or something was not finite on
    the way there already."""
    first = next((found for found in back if all(map(finite, found.given)) and not all(map(finite, found.made))), None)
    if first is None:
        return None
    kind = first.kind.removesuffix("Grad")
    made = {id(output): found for found in forward for output in found.made}
    # A derivative is computed from what its forward operation was given or gave.
    known = [made[id(tensor)] for tensor in first.given if id(tensor) in made] + [found for found in made.values() if found.kind == kind]
    return kind, next((found.place for found in known if found.place is not None and found.kind == kind),
                      next((found.place for found in known if found.place is not None), None))


def cut(run: Callable[[], Any], weights: list[Any], place: Callable[[], Place | None]) -> Place | None:
    """Run a forward pass eagerly: the first place at which what is made of these weights goes on without a derivative."""
    from tensorflow.python.framework import op_callbacks

    handles = [getattr(weight, "value", weight) for weight in weights]
    made: dict[int, Any] = {id(variable.handle): variable for variable in handles if hasattr(variable, "handle")}
    found: list[Place] = []

    def look(op_type: Any, inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        del op_name, graph
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        if name in _MEASURING or not any(id(tensor) in made for tensor in inputs):
            return
        if _differentiable(name) and any(output.dtype.is_floating for output in outputs):
            made.update({id(output): output for output in outputs})
        elif (where := place()) is not None:
            found.append(where)

    op_callbacks.add_op_callback(look)
    try:
        run()
    finally:
        op_callbacks.remove_op_callback(look)
    return found[0] if found else None


def _differentiable(name: str) -> bool:
    """Whether TensorFlow knows a derivative of an operation that is more than nothing."""
    from tensorflow.python.framework import ops

    try:
        return name not in _STEPS and ops.gradient_registry.lookup(name) is not None
    except LookupError:
        return False


def finite(value: Any) -> bool:
    """Whether a tensor holds numbers only, as far as it holds floats."""
    dtype = getattr(value, "dtype", None)
    return dtype is None or not dtype.is_floating or bool(np.isfinite(numpy_of(value)).all())
