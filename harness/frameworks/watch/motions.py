"""How one picture was moved to become another: mirrored, turned by right angles, shifted. Exactly, or not at all.

Pictures are `float[height, width, channels]`, as `picture` makes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Pixels = np.ndarray[Any, Any]
Picture = Pixels
_LEAST, _MOST = 8, 256  # pixels a side
_CHANNELS = 4
_PIECE = 8  # pixels in a row by which a place is known again
_TRIED = 200
_SAME = 1e-5
# What is meant for the training alone, by its name: noise that a sensor has belongs to every row.
AUGMENTS = re.compile(r"aug|train|random|transform|jitter|crop|flip|rotat|distort|perturb|cutout|eras", re.IGNORECASE)


@dataclass(frozen=True)
class Motion:
    """First mirrored (left to right) or not, then turned by so many right angles, then shifted by whole pixels."""

    mirrored: bool
    turns: int
    down: int
    right: int

    def __str__(self) -> str:
        said = ["mirrored"] * self.mirrored + [f"turned by {90 * self.turns} degrees"] * bool(self.turns)
        said += [f"shifted by ({self.down}, {self.right})"] * bool(self.down or self.right)
        return ", ".join(said) or "as it was"


def picture(array: Pixels) -> Picture | None:
    """An array as a picture: `[h, w]`, `[c, h, w]` or `[h, w, c]` of at most four channels; None for anything else."""
    if array.ndim == 2:
        array = array[:, :, None]
    elif array.ndim != 3 or array.dtype.kind not in "iufb":
        return None
    elif array.shape[0] <= _CHANNELS < array.shape[2]:
        array = np.moveaxis(array, 0, -1)
    if array.shape[2] > _CHANNELS or not all(_LEAST <= side <= _MOST for side in array.shape[:2]) or array.dtype.kind not in "iufb":
        return None
    return array.astype(np.float32)


def moved(first: Picture, second: Picture, motion: Motion) -> bool:
    """Whether this motion makes the second picture of the first, wherever one covers the other."""
    turned = _turned(first, motion.mirrored, motion.turns)
    if turned.shape != second.shape:
        return False
    height, width = second.shape[:2]
    down, right = motion.down, motion.right
    covered = second[max(0, down):height + min(0, down), max(0, right):width + min(0, right)]
    source = turned[max(0, -down):height + min(0, -down), max(0, -right):width + min(0, -right)]
    return covered.size > 0 and bool(np.allclose(covered, source, rtol=_SAME, atol=_SAME))


def levelled(source: Picture) -> Picture:
    """The same picture at a mean of 0 and a deviation of 1 in each channel: brightness and contrast that were drawn for it are gone."""
    flat: Pixels = source.reshape(-1, source.shape[2]).astype(np.float64)
    spread = flat.std(0)
    level: Picture = (source - flat.mean(0)) / np.where(spread > 0, spread, 1.0)
    return level


def between(first: Picture, second: Picture) -> list[Motion]:
    """All motions that make the second picture of the first and leave at least a quarter of it in sight; none of a plain one."""
    height, width = second.shape[:2]
    row, column, piece = _piece(second)
    if not np.ptp(piece):
        return []
    found: list[Motion] = []
    for mirrored in (False, True):
        for turns in range(4):
            turned = _turned(first, mirrored, turns)
            if turned.shape != second.shape:
                continue
            for i, j in _places(turned[:, :, 0], piece):
                motion = Motion(mirrored, turns, row - i, column - j)
                if abs(motion.down) <= height // 2 and abs(motion.right) <= width // 2 and moved(first, second, motion):
                    found.append(motion)
    return found


def _turned(source: Picture, mirrored: bool, turns: int) -> Picture:
    turned: Picture = np.rot90(source[:, ::-1] if mirrored else source, turns)
    return turned


def _piece(source: Picture) -> tuple[int, int, Pixels]:
    """The most varied few pixels in a row: where they begin, and their values in the first channel. From the middle, if that is not plain:
    what lies there is still in sight after most motions."""
    height, width = source.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(source[:, :, 0], _PIECE, axis=1)
    spread = np.abs(np.diff(windows, axis=-1)).sum(-1)
    top, left = height // 4, min(width // 4, (width - _PIECE) // 2)
    middle = spread[top:height - top, left:spread.shape[1] - left]
    if not middle.any():
        top, left, middle = 0, 0, spread
    row, column = divmod(int(middle.argmax()), middle.shape[1])
    return row + top, column + left, windows[row + top, column + left]


def _places(channel: Pixels, piece: Pixels) -> Iterator[tuple[int, int]]:
    windows = np.lib.stride_tricks.sliding_window_view(channel, _PIECE, axis=1)
    hits = np.argwhere(np.isclose(windows, piece, rtol=_SAME, atol=_SAME).all(-1))[:_TRIED]
    return ((int(i), int(j)) for i, j in hits)
