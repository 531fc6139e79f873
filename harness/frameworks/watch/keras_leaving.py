"""What leaves a step of Keras' that is traced: read at each call of the function, where Python cannot watch it run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import keras_opposed

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_trace import Recording

_WIDE = 200_000
_ROWS = 4


def outputs(record: Recording, data: Any) -> dict[str, Any]:
    """What leaves the traced function: `data` as it came, targets (scalars), gradient norms (float32[weights]), losses' parts."""
    import tensorflow as tf

    targets = tuple(tf.reduce_sum(tf.cast(target, tf.float32)) for target in record.targets if tf.is_tensor(target) and here(target))
    norms, losses = [], []
    for gradients in record.gradients:
        each = [_norm(gradient) for gradient in gradients]
        norms.append(tf.stack(each) if each else tf.zeros((0,)))
    for seen in record.used():
        parts = {name: value for name, value in (("true", _small(seen.true)), ("pred", _small(seen.pred)), ("rows", seen.rows),
                                                 ("value", seen.value)) if tf.is_tensor(value) and here(value)}
        losses.append(parts)
    # Keras 3 wraps what a step gives into an optional, which can hold tuples and dicts but no lists.
    differences = tuple((_small(true), _small(pred)) for true, pred, _ in record.differences if here(true) and here(pred))
    opposed = keras_opposed.cosine(record.sources, record.gradients, here) if len(record.sources) > 1 else tf.constant(-2.0)
    return {"data": _tuples(data), "opposed": opposed, "targets": targets, "losses": tuple(losses), "norms": tuple(norms),
            "differences": differences, "rivals": record.rivals.leaving(here) if record.rivals is not None else {},
            "divergence": record.divergence if all(here(tensor) for tensor in record.divergence.values()) else {}}


def _tuples(data: Any) -> Any:
    if isinstance(data, list | tuple):
        return tuple(_tuples(part) for part in data)
    return {key: _tuples(part) for key, part in data.items()} if type(data) is dict else data


def _norm(gradient: Any) -> Any:
    """L2 norm of a gradient, -1 where there is none."""
    import tensorflow as tf

    if gradient is None:
        return tf.constant(-1.0)
    values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    if not here(values):
        return tf.constant(-1.0)
    return tf.sqrt(tf.reduce_sum(tf.square(tf.cast(values, tf.float32))))


def _small(tensor: Any) -> Any:
    """A tensor, of very wide ones its first rows."""
    shape = getattr(tensor, "shape", None)
    if shape is None or shape.rank is None or shape.rank < 2:
        return tensor
    width = 1
    for size in shape[1:]:
        width *= size or 64
    return tensor[:_ROWS] if width > _WIDE else tensor


def here(tensor: Any) -> bool:
    """Whether a tensor may leave the function that is being traced (one from an inner graph may not)."""
    import tensorflow as tf

    return tf.executing_eagerly() or getattr(tensor, "graph", None) is tf.compat.v1.get_default_graph()
