"""Where a gradient stops being a number in a Keras step: the operation whose derivative is none, and the line that called it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.frameworks.watch.keras_trace import Stop, numpy_of, patched
from harness.frameworks.watch.sites import Place

_STEPS = ("StopGradient", "PreventGradient", "Round", "Rint", "Floor", "Ceil", "Sign", "PyFunc", "PyFuncStateless")
_MEASURING = ("Shape", "ShapeN", "Size", "Rank")


def birth(run: Callable[[], Any], place: Callable[[], Place | None]) -> tuple[str, Place | None] | None:
    """Run one step eagerly as far as its gradient: the first operation on the way back that makes something not finite of what is finite.

    Its name (`Sqrt`), and the `place` of the forward operation that it differentiates, None where that is not known. None where every
    gradient is finite, or something was not finite on the way there already.
    """
    import tensorflow as tf
    from tensorflow.python.framework import op_callbacks

    made: dict[int, tuple[Any, str, Place | None]] = {}
    found: list[tuple[str, list[Any]]] = []
    back: list[bool] = []

    def look(op_type: Any, inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        del op_name, graph
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        if not back:
            where = place()
            made.update({id(output): (output, name, where) for output in outputs})
        elif not found and all(map(finite, inputs)) and not all(map(finite, outputs)):
            found.append((name, list(inputs)))

    def gradient(original: Any) -> Any:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            back.append(True)
            original(*args, **kwargs)
            raise Stop

        return wrapped

    op_callbacks.add_op_callback(look)
    try:
        with patched(tf.GradientTape, "gradient", gradient):
            run()
    except Stop:
        pass
    finally:
        op_callbacks.remove_op_callback(look)
    if not found:
        return None
    name, given = found[0]
    forward = name.removesuffix("Grad")
    # A derivative is computed from what its forward operation was given or gave.
    known = [made[id(tensor)] for tensor in given if id(tensor) in made] + [entry for entry in made.values() if entry[1] == forward]
    return forward, next((where for _, kind, where in known if where is not None and kind == forward),
                         next((where for _, _, where in known if where is not None), None))


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
