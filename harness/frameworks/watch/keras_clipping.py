"""What a loop does with the gradients of its tape before its optimizer gets them."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.frameworks.watch.keras_trace import numpy_of

_NEAR = 1e-3


class Clipping:
    """Learns, step by step, whether gradients go on as they are or are scaled down together to one norm."""

    def __init__(self) -> None:
        self.norm: float | None = None
        self._highest = 0.0

    def describes(self, gradients: list[Any], applied: list[Any]) -> bool:
        """Whether this step, too, is made so. What is changed one by one, or made larger, is not."""
        if self.norm is None and [id(part) for part in gradients] == [id(part) for part in applied]:
            return True
        given, got = _values(gradients), _values(applied)
        if len(given) != len(got) or any((one is None) != (other is None) for one, other in zip(given, got, strict=True)):
            return False
        pairs = [(one, other) for one, other in zip(given, got, strict=True) if one is not None and other is not None]
        if any(one.shape != other.shape for one, other in pairs):
            return False
        before, after = (float(np.sqrt(sum(float(np.vdot(part, part)) for part in parts))) for parts in zip(*pairs, strict=True)
                         ) if pairs else (0.0, 0.0)
        share = after / before if before else 1.0
        if not np.isfinite(share):
            return True
        apart = float(np.sqrt(sum(float(np.sum((other - share * one) ** 2)) for one, other in pairs)))
        if share > 1 + _NEAR or apart > _NEAR * after:
            return False
        if share > 1 - _NEAR:
            self._highest = max(self._highest, before)
        elif self.norm is None:
            self.norm = after
        elif abs(after - self.norm) > _NEAR * self.norm:
            return False
        return self.norm is None or self._highest <= (1 + _NEAR) * self.norm

    def __call__(self, gradients: list[Any]) -> list[Any]:
        """What an optimizer is to get."""
        import tensorflow as tf

        return list(gradients) if self.norm is None else list(tf.clip_by_global_norm(gradients, self.norm)[0])


def _values(gradients: list[Any]) -> list[np.ndarray[Any, Any] | None]:
    """Gradients as float64; of rows of an embedding their values alone, whose norm TensorFlow clips by."""
    found = (getattr(part, "values", part) if type(part).__name__ == "IndexedSlices" else part for part in gradients)
    return [None if part is None else np.asarray(numpy_of(part), np.float64) for part in found]
