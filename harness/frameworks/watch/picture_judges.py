"""Plain baselines that learn from pictures what is wanted of them: classes, numbers, or other pictures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

_CLASSES = 50
_PATCH, _PATCHES, _GRID, _CHUNK = 5, 48, 6, 64
_PIXELS = 20_000
_FOLDS = 3
# A baseline that tells nothing of the rows of the evaluation has no say: accuracy beyond the commonest class, or explained variance.
_TELLS = 0.4
_BEYOND = 0.95  # quantile of the evaluation's errors
# Copies of each picture, moved by at most this part of its side: whoever mirrors may well shift as well, which changes no class.
_COPIES, _SHIFT = 2, 0.125

Array = np.ndarray[Any, Any]


class Judge(ABC):
    """A ridge regression on rows of the evaluation. `own`: errors there, each of rows that it was not fitted on."""

    own: Array
    beyond: float
    column = 0

    @property
    @abstractmethod
    def tells(self) -> bool:
        """Whether it explains enough of the rows that it was not fitted on."""

    @abstractmethod
    def errors(self, pictures: Array, target: Array) -> Array:
        """Of each row."""


class _Ridge:
    """Kernel ridge regression on pooled answers of filters."""

    def __init__(self, pictures: Array, wanted: Array, filters: Array, *, copies: int = 0) -> None:
        """`copies`: of so many shifted ones of each picture it learns as well."""
        self._filters = filters
        count, shifted = len(pictures), [_shifted(pictures, number) for number in range(copies)]
        pictures, wanted = np.concatenate([pictures, *shifted]), np.concatenate([wanted] * (copies + 1))
        self._rows = _pooled(pictures, filters)
        self._level, self._scale = self._rows.mean(0), self._rows.std(0) + 1e-3
        self._rows = (self._rows - self._level) / self._scale
        self._mean = wanted.mean(0)
        kernel = self._rows @ self._rows.T
        around = wanted - self._mean
        self._penalty = 0.05 * np.trace(kernel) / len(kernel)
        eye = self._penalty * np.eye(len(kernel))
        self.apart = np.zeros_like(around)
        of: Array = np.arange(len(kernel)) % count  # a picture and its copies are of one fold
        for fold in np.array_split(np.random.default_rng(0).permutation(count), _FOLDS):
            rest = np.flatnonzero(~np.isin(of, fold))
            self.apart[fold] = kernel[np.ix_(fold, rest)] @ np.linalg.solve(kernel[np.ix_(rest, rest)] + eye[: len(rest), : len(rest)],
                                                                            around[rest])
        self.apart = self.apart[:count] + self._mean
        self._weights = np.linalg.solve(kernel + eye, around)

    def __call__(self, pictures: Array) -> Array:
        rows: Array = (_pooled(pictures, self._filters) - self._level) / self._scale
        answers: Array = rows @ self._rows.T @ self._weights + self._mean
        return answers


class OfClasses(Judge):
    """`wanted`, numbered from 0; `right`: the rows that it gets right without having been fitted on them."""

    def __init__(self, pictures: Array, wanted: Array, filters: Array) -> None:
        self.classes, self.wanted = np.unique(wanted.reshape(-1), return_inverse=True)
        self._ridge = _Ridge(pictures, np.eye(len(self.classes))[self.wanted], filters, copies=_COPIES)
        self.right = self._ridge.apart.argmax(1) == self.wanted
        self.own, self.beyond = (~self.right).astype(float), 0.5

    @property
    def tells(self) -> bool:
        most = np.bincount(self.wanted).max() / len(self.wanted)
        return 1 < len(self.classes) <= _CLASSES and bool(self.right.mean() > most + _TELLS * (1 - most))

    @property
    def apart(self) -> Array:
        """Scores of the rows that it was fitted on, each by those of the others."""
        made: Array = self._ridge.apart
        return made

    def scores(self, pictures: Array) -> Array:
        """`float[rows, classes]`"""
        return self._ridge(pictures)

    def errors(self, pictures: Array, target: Array) -> Array:
        wrong: Array = (self.classes[self.scores(pictures).argmax(1)] != target.reshape(-1)).astype(float)
        return wrong


class _OfNumbers(Judge):
    """One column of numbers."""

    def __init__(self, ridge: _Ridge, wanted: Array, column: int) -> None:
        self._ridge, self.column, self._spread = ridge, column, wanted[:, column].std() + 1e-9
        self.own = self._distance(ridge.apart, wanted)
        self.beyond = float(np.quantile(self.own, _BEYOND))

    @property
    def tells(self) -> bool:
        return bool(self.own.mean() < 1 - _TELLS)

    def _distance(self, answers: Array, wanted: Array) -> Array:
        found: Array = ((answers - wanted)[:, self.column] / self._spread) ** 2
        return found

    def errors(self, pictures: Array, target: Array) -> Array:
        return self._distance(self._ridge(pictures), target)


class _OfPixels(Judge):
    """Pictures that are wanted of pictures, pixel by pixel."""

    def __init__(self, pictures: Array, wanted: Array, filters: Array) -> None:
        self._filters = filters
        half = len(pictures) // 2
        self._fit(pictures[:half], wanted[:half])
        self.own = self.errors(pictures[half:], wanted[half:])
        self._explained = 1 - self.own.mean() / (wanted[half:].var() + 1e-9)
        self.beyond = float(np.quantile(self.own, _BEYOND))

    def _fit(self, pictures: Array, wanted: Array) -> None:
        rows = _answers(pictures, self._filters, same=True)
        rows, targets = rows.reshape(-1, rows.shape[-1]), wanted.reshape(-1, wanted.shape[-1])
        chosen = np.random.default_rng(0).permutation(len(rows))[:_PIXELS]
        rows, targets = np.hstack([rows[chosen], np.ones((len(chosen), 1))]), targets[chosen]
        product = rows.T @ rows
        self._weights = np.linalg.solve(product + 1e-3 * np.trace(product) / len(product) * np.eye(len(product)), rows.T @ targets)

    @property
    def tells(self) -> bool:
        return bool(self._explained > _TELLS)

    def errors(self, pictures: Array, target: Array) -> Array:
        rows = _answers(pictures, self._filters, same=True)
        answers = rows @ self._weights[:-1] + self._weights[-1]
        found: Array = ((answers - target) ** 2).mean((1, 2, 3))
        return found


def _shifted(pictures: Array, seed: int) -> Array:
    """Each picture moved a little, its border repeated."""
    height, width = pictures.shape[1:3]
    far = max(1, int(_SHIFT * (min(height, width) if height > 1 else width)))
    wide = np.pad(pictures, ((0, 0), (far, far), (far, far), (0, 0)), mode="edge")
    starts = np.random.default_rng(seed).integers(0, 2 * far + 1, (len(pictures), 2))
    made: Array = np.stack([row[down:down + height, right:right + width] for row, (down, right) in zip(wide, starts, strict=True)])
    return made


def margin(scores: Array) -> Array:
    """By how much the best of each row's scores is ahead."""
    best = np.sort(scores, axis=1)
    lead: Array = best[:, -1] - best[:, -2]
    return lead


def judges(pictures: Array, wanted: Array, filters: Array) -> Iterator[Judge]:
    """Those that can tell something of a column of the evaluation's rows."""
    if wanted.dtype.kind in "iub":
        made: list[Judge] = [OfClasses(pictures, wanted, filters)]
    elif wanted.ndim == 4:
        made = [_OfPixels(pictures, wanted, filters)]
    else:
        ridge = _Ridge(pictures, wanted, filters)
        made = [_OfNumbers(ridge, wanted, column) for column in range(wanted.shape[1])]
    return (judge for judge in made if judge.tells)


def filters_of(pictures: Array) -> Array:
    """Small pieces of the pictures themselves, each without its mean and of length 1: `float[values, filters]`."""
    draw = np.random.default_rng(0)
    windows = np.lib.stride_tricks.sliding_window_view(pictures, _patch(pictures), axis=(1, 2))
    rows, down, right = (draw.integers(0, side, 8 * _PATCHES) for side in windows.shape[:3])
    pieces = windows[rows, down, right].reshape(len(rows), -1)
    pieces = pieces - pieces.mean(1, keepdims=True)
    lengths = np.linalg.norm(pieces, axis=1)
    best = np.argsort(-lengths)[: 4 * _PATCHES : 4]
    made: Array = (pieces[best] / (lengths[best, None] + 1e-6)).T.astype(np.float32)
    return made


def _patch(pictures: Array) -> tuple[int, int]:
    """A square, or a piece of a series, which is one line."""
    height, width = pictures.shape[1:3]
    side = min(_PATCH, height, width)
    return (side, side) if height > 1 else (1, min(_PATCH, width))


def _answers(pictures: Array, filters: Array, *, same: bool = False) -> Array:
    """Of every place, what the filters give, above and below zero, and the values themselves: `float32[rows, down, right, features]`."""
    sizes = _patch(pictures)
    if same:
        pictures = np.pad(pictures, ((0, 0), *((size // 2, size - 1 - size // 2) for size in sizes), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(pictures, sizes, axis=(1, 2))
    flat = windows.reshape(*windows.shape[:3], -1)
    given = flat @ filters
    made: Array = np.concatenate([np.maximum(given, 0), np.maximum(-given, 0), flat.mean(-1, keepdims=True)], axis=-1)
    return made


def _pooled(pictures: Array, filters: Array) -> Array:
    """The same, averaged over the fields of a grid: `float32[rows, fields * features]`."""
    made: list[Array] = []
    for start in range(0, len(pictures), _CHUNK):
        rows = _answers(pictures[start:start + _CHUNK], filters)
        downs, rights = (np.array_split(np.arange(side), min(_GRID, side)) for side in rows.shape[1:3])
        fields = [rows[:, down[0]:down[-1] + 1, right[0]:right[-1] + 1].mean((1, 2)) for down in downs for right in rights]
        made.append(np.concatenate(fields, axis=1))
    whole: Array = np.concatenate(made)
    return whole
