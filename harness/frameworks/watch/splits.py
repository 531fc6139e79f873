"""The scale of what a model is given in training, beside that of what it is given in evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import EvaluationFacts, ScaleFacts
from harness.frameworks.watch import tensors
from harness.frameworks.watch.conditions import Conditions
from harness.frameworks.watch.standardised import Standardised
from harness.frameworks.watch.strange_ids import StrangeIds

_BATCHES, _ROWS, _LARGEST = 6, 16, 1 << 22
_STEADY = 1.5  # how far apart deviations of training batches may lie, as a factor
_LATER, _NEAR = 64, 0.3  # batches that are looked at for bytes; how far off a scale may be, as a share
# How pixels of a training come about from bytes, and sound from whole numbers: by what they are divided, and what is taken off then.
_OF_BYTES = ((255.0, 0.0), (127.5, 1.0), (32768.0, 0.0))
_SIGNED, _BLANK = 0.2, 0.5  # shares of a batch: below 0 in the training, and exactly 0 where an input is blanked out
_ELSEWHERE, _NUMBERS = 5.0, 256  # deviations of the training that a batch lies away from it; numbers of a row that is judged by itself

# Mean and standard deviation of a batch, and the shares of its numbers that are exactly 0, and below it.
Scale = tuple[float, float, float, float]
Key = tuple[int, tuple[int, ...]]


class Splits:
    """Keeps the scales of the first batches of floats that a model sees in training, and in evaluation; of ids, which there are."""

    def __init__(self) -> None:
        self._trained: dict[Key, list[Scale]] = {}
        self._held: dict[Key, list[Scale]] = {}
        self._odd: dict[Key, list[Scale]] = {}  # of evaluations beside others: bytes in place of what they were scaled to, or far off
        self._looked: dict[Key, int] = {}
        self._rows: dict[Key, int] = {}  # of those that are odd
        self._bare: dict[Key, list[Scale]] = {}  # of evaluations, since the first in which no number is below 0
        self.ids = StrangeIds()
        self._standardised = Standardised()
        self._conditions = Conditions()

    def trained(self, model: Any, given: Sequence[Any]) -> None:
        """A training step runs a model on these; the first one with floats counts."""
        self.ids.trained(model, given)
        self._standardised.trained(given)
        self._conditions.trained(model, given)
        self._keep(self._trained, model, [value for value in given if "float" in str(getattr(value, "dtype", ""))])

    def held(self, model: Any, given: Sequence[Any]) -> bool:
        """An evaluation does. Whether these are bytes in place of pixels, the reverse, or far off, for the first time."""
        self.ids.held(model, given)
        if self._trained:
            self._standardised.held(given)
            self._conditions.held(model, given)
            self._keep(self._held, model, given)
            return self._look(model, given)
        return False

    def _look(self, model: Any, given: Sequence[Any]) -> bool:
        """Whether a batch is the first that stands to those of the training as bytes do to pixels, or lies far away from them."""
        for value in given:
            key = id(model), tuple(int(size or 0) for size in getattr(value, "shape", ())[1:])
            trained = self._trained.get(key)
            if trained and len(key[1]) > 1 and self._looked.get(key, 0) < _LATER:
                self._looked[key] = self._looked.get(key, 0) + 1
                scale = _scale(value) if len(value) >= _ROWS or math.prod(key[1]) >= _NUMBERS else None
                middle, spread = median(each[0] for each in trained), median(each[1] for each in trained)
                if scale is None or not (_bytes(scale[:2], (middle, spread)) or _bytes((middle, spread), scale[:2])
                                         or abs(scale[0] - middle) > _ELSEWHERE * max(spread, scale[1])):
                    return scale is not None and self._unsigned(key, scale, min(each[3] for each in trained))
                known = self._odd.setdefault(key, [])
                known.append(scale)
                self._rows[key] = self._rows.get(key, 0) + len(value)
                return len(known) == 1
        return False

    def _unsigned(self, key: Key, scale: Scale, below: float) -> bool:
        """Whether this is the first batch without a number below 0, of which each of the training has some share; what others come between
        are drawn like that."""
        known = self._bare.setdefault(key, [])
        if scale[3] or scale[2] > _BLANK or below < _SIGNED:
            known *= 0
            return False
        known.append(scale)
        return len(known) == 1

    def _keep(self, known: dict[Key, list[Scale]], model: Any, given: Sequence[Any]) -> None:
        for value in given:
            shape = tuple(getattr(value, "shape", ()))
            key = id(model), tuple(int(size or 0) for size in shape[1:])
            # Whole numbers count where the training gave floats of that shape: bytes of pictures, say, that nothing has scaled.
            if len(shape) < 2 or not ("float" in (kind := str(getattr(value, "dtype", ""))) or ("int" in kind and key in self._trained)):
                continue
            scales = known.setdefault(key, [])
            made = _scale(value) if len(scales) < _BATCHES and (shape[0] or 0) >= _ROWS else None
            scales += [made] if made is not None else []
            return

    def fill(self, facts: EvaluationFacts, script: Path) -> None:
        """What was seen of an evaluation's inputs."""
        facts.scale, facts.strange, facts.standardised = self.facts(), self.ids.facts(), self._standardised.facts(script)
        facts.condition = self._conditions.facts()

    def facts(self) -> ScaleFacts | None:
        """None where no model saw rows of one shape in both, or the batches of training differ much among themselves."""
        for key, trained in self._trained.items():
            odd = self._odd.get(key, []) if self._rows.get(key, 0) >= _ROWS else []
            bare = self._bare.get(key, [])
            odd = odd or (bare if len(bare) >= _ROWS else [])
            held, spread = odd or self._held.get(key), [deviation for _, deviation, *_ in trained]
            if held and len(trained) > 1 and 0 < max(spread) < _STEADY * min(spread):
                means, others, zeros, below = (list(part) for part in zip(*held, strict=True))
                return ScaleFacts(mean=median(mean for mean, *_ in trained), std=median(spread), held_mean=median(means),
                                  held_std=median(others), held_stds=(min(others), max(others)), shape=list(key[1]),
                                  zeros=median(scale[2] for scale in trained), held_zeros=median(zeros),
                                  below=median(scale[3] for scale in trained), held_below=max(below),
                                  beside=bool(odd) and self._looked[key] > len(odd))
        return None


def _scale(value: Any) -> Scale | None:
    plain = tensors.array(value)
    if plain is None or not 0 < plain.size <= _LARGEST or not np.isfinite(plain).all():
        return None
    return (float(plain.mean(dtype=np.float64)), float(plain.std(dtype=np.float64)), float((plain == 0).mean()), float((plain < 0).mean()))


def _bytes(whole: tuple[float, float], scaled: tuple[float, float]) -> bool:
    """Whether a mean and a deviation are those of bytes of which the others are pixels."""
    return any(abs(whole[1] / (factor * scaled[1]) - 1) < _NEAR and abs(whole[0] / (factor * (scaled[0] + shift)) - 1) < _NEAR
               for factor, shift in _OF_BYTES if scaled[1] > 0 and scaled[0] + shift != 0)
