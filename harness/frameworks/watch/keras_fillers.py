"""Whether a loss counts the tokens that an attention mask hides, whatever computes it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_backend import KerasBackend, Step

_ROUNDING = 1e-6


def counted(backend: KerasBackend, step: Step) -> bool | None:
    """Whether the loss of the first weights changes with the labels of hidden tokens; None where there are no such tokens."""
    import tensorflow as tf

    data = step.data
    if not isinstance(data, tuple) or len(data) < 2 or not hasattr(data[0], "keys") or not tf.is_tensor(data[1]):
        return None
    changed = _exchanged(data[0].get("attention_mask"), data[1])
    if changed is None:
        return None
    backend.put()
    before = backend.loss(step)
    after = backend.loss(dataclasses.replace(step, data=(data[0], changed, *data[2:])))
    return abs(after - before) > _ROUNDING * abs(before)


def counted_by(model: Any, given: dict[str, Any]) -> bool | None:
    """The same of the loss that a model of transformers computes of its inputs, among which are the labels, with the weights of now."""
    changed = _exchanged(given.get("attention_mask"), given.get("labels"))
    if changed is None:
        return None
    before, after = (float(np.mean(numpy_of(model({**given, "labels": labels}, training=False).loss)))
                     for labels in (given["labels"], changed))
    return abs(after - before) > _ROUNDING * abs(before)


def _exchanged(mask: Any, labels: Any) -> Any:
    """The labels of hidden tokens exchanged for one that they do not have; None where no token is hidden."""
    import tensorflow as tf

    if mask is None or labels is None or tuple(mask.shape) != tuple(labels.shape):
        return None
    hidden, found = np.asarray(numpy_of(mask)) == 0, np.array(numpy_of(labels))
    if found.dtype.kind not in "iu":
        return None
    others = np.setdiff1d(found[~hidden & (found >= 0)], found[hidden])
    if not hidden.any() or not others.size:
        return None
    return tf.constant(np.where(hidden, others[0], found).astype(found.dtype))
