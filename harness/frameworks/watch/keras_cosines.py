"""Cosines that a Keras step takes for the logits of a softmax: read off the graph of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.checks.loss_facts import CosineFacts
from harness.frameworks.watch import keras_divergence, keras_tempered
from harness.frameworks.watch.sites import site

_DEEP = 16
_SOFT = ("Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
_MOVING = ("Identity", "Cast", "Reshape", "Squeeze", "Transpose", "ExpandDims")
_PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum")


def read(target: Any, is_own: Callable[[str], bool]) -> CosineFacts | None:
    """Of the loss of a step that was traced, the first softmax whose logits are products of rows of length one, times a number."""
    for softened, logits in keras_tempered.softened(target, _SOFT):
        found = _bound(logits)
        if found is not None:
            bound, product = found
            place = keras_divergence.place(logits, is_own) or keras_divergence.place(softened, is_own)
            return CosineFacts(bound=bound, classes=product.shape[-1] if product.shape.rank else None, site=site(place))
    return None


def _bound(logits: Any) -> tuple[float, Any] | None:
    """Within what bound logits stay that are cosines times a number, and the product; None of others."""
    bound = 1.0
    for _ in range(_DEEP):
        kind, given = logits.op.type, list(logits.op.inputs)
        if kind in _PRODUCTS:
            return (bound, logits) if len(given) > 1 and all(_of_length_one(side) for side in given[:2]) else None
        if kind in _MOVING:
            logits = given[0]
            continue
        found = keras_tempered.multiplied(logits)
        if found is None:
            return None
        bound, logits = bound * abs(found[0]), found[1]
    return None


def _of_length_one(side: Any) -> bool:
    """Whether rows were divided by their length: multiplied by the inverse of a root of squares, or divided by such a root."""
    for _ in range(_DEEP):
        kind, given = side.op.type, list(side.op.inputs)
        if kind in _MOVING:
            side = given[0]
        elif kind == "Mul":
            return any(_root(part, ("Rsqrt",)) for part in given)
        elif kind in ("RealDiv", "Div", "DivNoNan"):
            return _root(given[1], ("Sqrt", "Norm"))
        else:
            return False
    return False


def _root(part: Any, roots: tuple[str, ...]) -> bool:
    """Whether a number a row is a root of a sum of squares, with whatever keeps it off zero."""
    passed = False
    for _ in range(_DEEP):
        kind = part.op.type
        if kind == "Sum":
            inner = part.op.inputs[0].op
            return passed and (inner.type == "Square" or (inner.type == "Mul" and inner.inputs[0] is inner.inputs[1])
                               or inner.type in ("Abs", "Pow", "Real"))
        passed = passed or kind in roots
        if kind not in (*roots, *_MOVING, "Maximum", "Minimum", "AddV2", "Add", "Reciprocal"):
            return False
        part = next((each for each in part.op.inputs if each.op.type != "Const"), part.op.inputs[0])
    return False
