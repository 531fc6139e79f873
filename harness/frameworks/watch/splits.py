"""The scale of what a model is given in training, beside that of what it is given in evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import ScaleFacts
from harness.frameworks.watch import tensors
from harness.frameworks.watch.strange_ids import StrangeIds

_BATCHES, _ROWS, _LARGEST = 6, 16, 1 << 22
_STEADY = 1.5  # how far apart deviations of training batches may lie, as a factor

# Mean and standard deviation of a batch, and the shares of its numbers that are exactly 0, and below it.
Scale = tuple[float, float, float, float]
Key = tuple[int, tuple[int, ...]]


class Splits:
    """Keeps the scales of the first batches of floats that a model sees in training, and in evaluation; of ids, which there are."""

    def __init__(self) -> None:
        self._trained: dict[Key, list[Scale]] = {}
        self._held: dict[Key, list[Scale]] = {}
        self.ids = StrangeIds()

    def trained(self, model: Any, given: Sequence[Any]) -> None:
        """A training step runs a model on these; the first one with floats counts."""
        self.ids.trained(model, given)
        self._keep(self._trained, model, [value for value in given if "float" in str(getattr(value, "dtype", ""))])

    def held(self, model: Any, given: Sequence[Any]) -> None:
        """An evaluation does."""
        self.ids.held(model, given)
        if self._trained:
            self._keep(self._held, model, given)

    def _keep(self, known: dict[Key, list[Scale]], model: Any, given: Sequence[Any]) -> None:
        for value in given:
            shape = tuple(getattr(value, "shape", ()))
            key = id(model), tuple(int(size or 0) for size in shape[1:])
            # Whole numbers count where the training gave floats of that shape: bytes of pictures, say, that nothing has scaled.
            if len(shape) < 2 or not ("float" in (kind := str(getattr(value, "dtype", ""))) or ("int" in kind and key in self._trained)):
                continue
            scales = known.setdefault(key, [])
            plain = tensors.array(value) if len(scales) < _BATCHES and (shape[0] or 0) >= _ROWS else None
            if plain is not None and 0 < plain.size <= _LARGEST and np.isfinite(plain).all():
                scales.append((float(plain.mean(dtype=np.float64)), float(plain.std(dtype=np.float64)), float((plain == 0).mean()),
                               float((plain < 0).mean())))
            return

    def facts(self) -> ScaleFacts | None:
        """None where no model saw rows of one shape in both, or the batches of training differ much among themselves."""
        for key, trained in self._trained.items():
            held, spread = self._held.get(key), [deviation for _, deviation, *_ in trained]
            if held and len(trained) > 1 and 0 < max(spread) < _STEADY * min(spread):
                means, others, zeros, below = (list(part) for part in zip(*held, strict=True))
                return ScaleFacts(mean=median(mean for mean, *_ in trained), std=median(spread), held_mean=median(means),
                                  held_std=median(others), held_stds=(min(others), max(others)), shape=list(key[1]),
                                  zeros=median(scale[2] for scale in trained), held_zeros=median(zeros),
                                  below=median(scale[3] for scale in trained), held_below=max(below))
        return None
