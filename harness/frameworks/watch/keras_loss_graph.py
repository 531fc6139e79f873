"""TensorFlow: the operations behind a loss, read off the graph of a step, and what they tell."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.checks.observation import Observation
from harness.frameworks.watch import keras_cosines, overlaps_of_scores, reparameterized
from harness.frameworks.watch.nodes import Node

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_trace import Recording

_NODES, _HOPS = 6000, 6
_SAME = {"Identity", "Cast", "Reshape", "ExpandDims", "Squeeze", "ClipByValue", "EnsureShape", "BroadcastTo"}
_ADDS = {"AddV2", "Add", "AddN", "Sub"}
_KINDS = {"Exp": "exp", "Sqrt": "sqrt", "Square": "square", "Sum": "sum", "Mean": "sum", "Conv2D": "straight", "MatMul": "straight",
          "BiasAdd": "straight"}
_NOISE = {"RandomStandardNormal", "StatelessRandomNormalV2", "StatelessRandomNormal"}


def look(record: Recording, seen: Observation, script: Path) -> None:
    """At a step that was traced, with one loss."""
    import tensorflow as tf

    target = record.targets[0] if len(record.targets) == 1 else None
    if target is None or tf.executing_eagerly() or not tf.is_tensor(target):
        return
    queue, nodes = deque([target]), dict[Any, Node]()
    drawn = False
    while queue and len(nodes) < _NODES:
        tensor = queue.popleft()
        if _key(tensor) in nodes:
            continue
        node, given = _read(tensor)
        nodes[_key(tensor)] = node
        node.inputs = [_key(one) for one in given]
        drawn = drawn or node.kind == "drawn"
        queue.extend(given)
    seen.cosines = seen.cosines or keras_cosines.read(target, str(script).__eq__)
    seen.overlap = seen.overlap or overlaps_of_scores.facts(nodes, script)
    seen.spread = seen.spread or (reparameterized.facts(nodes, script) if drawn else None)


def _key(tensor: Any) -> tuple[str, int]:
    return tensor.op.name, tensor.value_index


def _read(tensor: Any) -> tuple[Node, list[Any]]:
    """A tensor's operation, and those inputs that are no constants."""
    kind = tensor.op.type
    given = [one for one in tensor.op.inputs if _number(one) is None]
    fixed = [number for one in tensor.op.inputs if (number := _number(one)) is not None]
    if kind in {"Mul", "RealDiv"}:
        if len(given) == 1 and fixed and (kind == "Mul" or given[0] is tensor.op.inputs[0]):
            return Node("scale", factor=fixed[0] if kind == "Mul" else 1 / fixed[0] if fixed[0] else 0.0), given
        if kind == "Mul" and len(given) == 2:
            if given[0] is given[1]:
                return Node("square"), given
            noise = [_is_noise(one) for one in given]
            if sum(noise) == 1:
                return Node("drawn"), [given[noise.index(False)]]
        return Node("div" if kind == "RealDiv" else "mul"), given
    if kind == "Pow" and len(given) == 1 and fixed:
        return Node({2.0: "square", 0.5: "sqrt"}.get(fixed[0], "other")), given
    if kind in _ADDS:
        if any(_KINDS.get(one.op.type) == "straight" for one in given) and any(map(_is_variable, given)):
            return Node("straight"), given  # a layer's bias
        return Node("same" if len(given) == 1 and kind != "Sub" else "add"), given
    if kind == "Neg":
        return Node("scale", factor=-1.0), given
    return Node("same" if kind in _SAME or (kind in {"Minimum", "Maximum"} and len(given) == 1) else _KINDS.get(kind, "other")), given


def _number(tensor: Any) -> float | None:
    """The one number that a tensor always holds."""
    import tensorflow as tf

    if tensor.op.type not in {"Const", "Cast", "Identity"} or not tensor.dtype.is_floating:
        return None
    value = tf.get_static_value(tensor.op.inputs[0] if tensor.op.type != "Const" else tensor)
    return float(value) if value is not None and getattr(value, "size", 0) == 1 else None


def _is_variable(tensor: Any) -> bool:
    for _ in range(_HOPS):
        if tensor.op.type not in _SAME:
            break
        tensor = tensor.op.inputs[0]
    return bool(tensor.op.type == "ReadVariableOp")


def _is_noise(tensor: Any) -> bool:
    """Whether a tensor is a normal draw, times a number and plus one."""
    for _ in range(_HOPS):
        if tensor.op.type in _NOISE:
            return True
        if tensor.op.type not in {"Mul", *_ADDS, *_SAME}:
            return False
        given = [one for one in tensor.op.inputs if _number(one) is None]
        if not given or (len(given) > 1 and tensor.op.type not in _SAME):
            return False
        tensor = given[0]
    return False
