"""Whether a loss counts the tokens that an attention mask hides, whatever computes it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

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
    mask, labels = data[0].get("attention_mask"), np.array(numpy_of(data[1]))
    if mask is None or tuple(mask.shape) != labels.shape or labels.dtype.kind not in "iu":
        return None
    hidden = np.asarray(numpy_of(mask)) == 0
    others = np.setdiff1d(labels[~hidden & (labels >= 0)], labels[hidden])
    if not hidden.any() or not others.size:
        return None
    changed = np.where(hidden, others[0], labels).astype(labels.dtype)
    backend.put()
    before = backend.loss(step)
    after = backend.loss(dataclasses.replace(step, data=(data[0], tf.constant(changed), *data[2:])))
    return abs(after - before) > _ROUNDING * abs(before)
