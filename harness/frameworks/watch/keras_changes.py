"""The inputs of a batch of Keras, in another order or others in their place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from harness.frameworks.watch import shifts
from harness.frameworks.watch.fitting import Change
from harness.frameworks.watch.keras_trace import numpy_of


def beside(columns: dict[str, Any]) -> list[Any]:
    """What a batch holds behind its first column and before what is wanted of it, by the names that `columns_of` gives."""
    return [value for name, value in [*columns.items()][1:] if not re.fullmatch(r"(y|sample_weight)\d*|labels?", name)]


def inputs_of(data: Any) -> list[Any]:
    """The tensors of a batch's first part."""
    import tensorflow as tf

    x = data[0] if isinstance(data, tuple) else data
    return [part for part in tf.nest.flatten(x) if tf.is_tensor(part)]


def with_inputs(data: Any, change: Change | None) -> Any:
    """A batch with the tensors of its first part changed."""
    import tensorflow as tf

    if change is None:
        return data

    def changed(part: Any) -> Any:
        return change(part) if tf.is_tensor(part) else part

    if isinstance(data, tuple):
        return (tf.nest.map_structure(changed, data[0]), *data[1:])
    return tf.nest.map_structure(changed, data)


def moved_on(part: Any, rows: int) -> Any:
    """Each row of a tensor in the place of the next."""
    import tensorflow as tf

    return tf.roll(part, 1, 0) if len(part.shape) and part.shape[0] == rows else part


def taken(part: Any, rows: int, order: list[int]) -> Any:
    """The rows of a tensor in an order."""
    import tensorflow as tf

    return tf.gather(part, order) if len(part.shape) and part.shape[0] == rows else part


def exchanged(part: Any, exchange: shifts.Exchange) -> Any:
    """The second ids of an exchange, where a tensor holds the first."""
    import tensorflow as tf

    same = part.dtype.is_integer and tuple(part.shape) == exchange[0].shape and np.array_equal(numpy_of(part), exchange[0])
    return tf.constant(exchange[1], part.dtype) if same else part


def in_front(part: Any, shape: tuple[int, ...], order: Any) -> Any:
    """Each row of a tensor of this shape, `[rows, length]`, in an order of its own."""
    import tensorflow as tf

    return tf.gather(part, order, axis=1, batch_dims=1) if tuple(part.shape[:2]) == shape else part
