"""Numbers that a model is given beside its rows, one for each: the time of a diffusion, the share of noise. Their range in training, and in
an evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import ConditionFacts
from harness.frameworks.watch import tensors

_STEPS, _CALLS, _LEAST = 200, 64, 4

Array = np.ndarray[Any, Any]
Key = tuple[int, int]


class Conditions:
    """Told of what models are given; of each model and place among its inputs the range is kept."""

    def __init__(self) -> None:
        self._trained: dict[Key, list[Array]] = {}
        self._held: dict[Key, list[Array]] = {}

    def trained(self, model: Any, given: Sequence[Any]) -> None:
        """A training step runs a model on these."""
        self._keep(self._trained, model, given, _STEPS)

    def held(self, model: Any, given: Sequence[Any]) -> None:
        """An evaluation does."""
        if self._trained:
            self._keep(self._held, model, given, _CALLS)

    def facts(self) -> ConditionFacts | None:
        """Of the first that was seen in both, at least four times each, and varies in training."""
        for key, known in self._trained.items():
            held = self._held.get(key, [])
            if len(known) < _LEAST or len(held) < _LEAST:
                continue
            own, others = np.concatenate(known), np.concatenate(held)
            if own.std() > 0:
                return ConditionFacts(trained=(float(own.min()), float(own.max())), held=(float(others.min()), float(others.max())),
                                      beyond=float(((others < own.min()) | (others > own.max())).mean()), calls=len(held),
                                      steps=bool((own == np.round(own)).all()), fractions=bool((others != np.round(others)).mean() > 0.5))
        return None

    @staticmethod
    def _keep(known: dict[Key, list[Array]], model: Any, given: Sequence[Any], most: int) -> None:
        rows = [tuple(getattr(value, "shape", ())) for value in given]
        largest = max((math.prod(int(size or 0) for size in shape[1:]) for shape in rows if shape), default=0)
        for number, (value, shape) in enumerate(zip(given, rows, strict=True)):
            if number and largest > 1 and shape in ((rows[0][:1]), (*rows[0][:1], 1)) and len(known.get((id(model), number), [])) < most:
                plain = tensors.array(value)
                if plain is not None and plain.dtype.kind in "iuf" and plain.size and np.isfinite(plain).all():
                    known.setdefault((id(model), number), []).append(plain.reshape(-1).astype(np.float64))
