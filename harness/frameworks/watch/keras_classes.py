"""Classes that the outputs of a Keras model stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

_CLASSES = 1000


def classes_of(pred: Any, loss: str, *, logits: bool) -> list[int] | None:
    """Class ids that outputs stand for, `float[rows, classes]` or, of a binary loss, `float[rows]` or `float[rows, 1]`."""
    if not isinstance(pred, np.ndarray) or pred.dtype.kind != "f":
        return None
    if loss in ("sparse_categorical", "categorical") and pred.ndim == 2 and 1 < pred.shape[1] <= _CLASSES:
        return [int(found) for found in pred.argmax(1)]
    if loss == "bce" and pred.size == len(pred):
        return [int(found) for found in pred.reshape(-1) > (0.0 if logits else 0.5)]
    return None
