"""One optimizer that steps for two losses in turn, of which one trains weights that the other has among its own and pulls the other way."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.training_facts import OpposedFacts
from harness.frameworks.watch.sites import Place, site

_STEPS, _LEAST, _LARGEST, _PLACES, _KNOWN = 24, 6, 1 << 22, 4, 32

Array = np.ndarray[Any, Any]
Key = tuple[int, Place]


class InTurn:
    """Told of every step: by which optimizer, where, and along which gradients."""

    def __init__(self) -> None:
        self._places: set[Key] = set()
        self._last: dict[Key, dict[int, Array]] = {}
        self._cosines: dict[tuple[Key, Key], list[float]] = {}
        self._sizes: dict[tuple[Key, Key], tuple[int, int]] = {}

    def wants(self, optimizer: int, place: Place | None) -> bool:
        """Whether an optimizer steps at another place as well, so that its gradients are worth reading."""
        if place is not None and len(self._places) < _KNOWN:
            self._places.add((optimizer, place))
        return sum(number == optimizer for number, _ in self._places) > 1

    def stepped(self, optimizer: int, place: Place | None, gradients: dict[int, Array]) -> None:
        """`optimizer`: its number; `gradients`: float[...] by the numbers of their weights, without those that did not arrive."""
        if place is None or sum(gradient.size for gradient in gradients.values()) > _LARGEST:
            return
        key = optimizer, place
        if key not in self._last and len(self._last) >= _PLACES:
            return
        own = {number: gradient for number, gradient in gradients.items() if gradient.any()}
        for other, known in self._last.items():
            inner, outer = (own, known) if len(own) < len(known) else (known, own)
            if other == key or other[0] != optimizer or not inner or len(inner) == len(outer) or not inner.keys() <= outer.keys():
                continue
            one, two = (np.concatenate([side[number].reshape(-1) for number in inner]).astype(np.float64) for side in (own, known))
            pair = (key, other) if (key, other) in self._cosines else (other, key)
            values = self._cosines.setdefault(pair, [])
            values[:] = [*values, float(one @ two / (np.linalg.norm(one) * np.linalg.norm(two)))][-_STEPS:]
            self._sizes[pair] = len(inner), len(outer)
        self._last[key] = own

    def facts(self) -> OpposedFacts | None:
        """The pair of places of which most is known."""
        most = max(self._cosines.items(), key=lambda item: len(item[1]), default=None)
        if most is None or len(most[1]) < _LEAST:
            return None
        (one, other), values = most
        weights, held = self._sizes[one, other]
        wider = one if len(self._last[one]) > len(self._last[other]) else other
        return OpposedFacts(weights=weights, held=held, cosines=values, alone=True, site=site(wider[1]))
