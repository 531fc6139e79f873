"""Token-wise answers of an evaluation, held against references at the same position and one place on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import AlignmentFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import tensors

Array = np.ndarray[Any, Any]

_SHORTEST = 5
_LARGEST = 1 << 24


class Alignment:
    """Adds up what agrees, over all comparisons of answers with references that have one id for each token."""

    def __init__(self) -> None:
        self._same = self._next = self._tokens = self._next_tokens = 0
        self._values: dict[str, tuple[float, float]] = {}
        self._place: Site | None = None

    def compared(self, answers: Any, references: Any, place: Site | None,
                 values: Callable[[], tuple[dict[str, float], dict[str, float]]] | None = None) -> None:
        """Answers int[rows, length], or scores [rows, length, classes], beside references int[rows, length], -100 where none is wanted.

        `values`: what the script's own function says of them as they are, and of the answers beside the references one place on.
        """
        found, wanted = _ids(answers), _ids(references)
        if found is None or wanted is None or found.shape != wanted.shape or found.ndim != 2 or found.shape[1] < _SHORTEST:
            return
        counted = wanted >= 0
        same, following = int((found == wanted)[counted].sum()), int((found[:, :-1] == wanted[:, 1:])[counted[:, 1:]].sum())
        self._same, self._next = self._same + same, self._next + following
        self._tokens, self._next_tokens = self._tokens + int(counted.sum()), self._next_tokens + int(counted[:, 1:].sum())
        self._place = self._place or place
        if values is not None and following > same:  # a function of the script's is not called for nothing
            here, on = values()
            self._values = {name: (value, on[name]) for name, value in here.items() if name in on}

    def facts(self) -> AlignmentFacts | None:
        """None where no such comparison was seen."""
        if not self._tokens or not self._next_tokens:
            return None
        return AlignmentFacts(tokens=self._tokens, same=self._same / self._tokens, following=self._next / self._next_tokens,
                              values=self._values, place=self._place)


def _ids(value: Any) -> Array | None:
    found = tensors.array(value)
    if found is None or found.size > _LARGEST:
        return None
    if found.ndim == 3 and found.dtype.kind == "f":
        found = found.argmax(-1)
    return found if found.dtype.kind in "iu" else None
