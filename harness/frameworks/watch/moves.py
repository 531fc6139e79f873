"""How rows may be moved at random in training: pictures are mirrored and turned, series turned round in time or negated.

Both are `float[rows, height, width, channels]`; a series is one line of its steps, `height` 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Move = Callable[[Array], Array]

_CHANNELS, _STEPS, _LONGEST = 6, 12, 128  # of a series

_PICTURES: dict[str, Move] = {
    "mirrored": lambda rows: rows[:, :, ::-1], "upside down": lambda rows: rows[:, ::-1],
    "turned by 180 degrees": lambda rows: rows[:, ::-1, ::-1],
    "turned by 90 degrees": lambda rows: np.rot90(rows, 1, (1, 2)), "turned by 270 degrees": lambda rows: np.rot90(rows, 3, (1, 2))}
_QUARTERS = ("turned by 90 degrees", "turned by 270 degrees")
# Where each picture is moved in one of several ways, by a draw for each.
_DRAWN: dict[str, tuple[str, ...]] = {
    "mirrored, upside down, or both": ("mirrored", "upside down", "turned by 180 degrees"),
    "turned by 90, 180 or 270 degrees": ("turned by 90 degrees", "turned by 180 degrees", "turned by 270 degrees")}


def single(rows: Array) -> dict[str, Move]:
    """Moves by their names."""
    if in_line(rows):
        channels = rows.shape[3]
        each = {f"negated in channel {number}": _negating(number, channels) for number in range(channels)} if channels > 1 else {}
        return {"turned round in time": _PICTURES["mirrored"], "negated": lambda rows: -rows, **each}
    square = rows.shape[1] == rows.shape[2]
    return {how: move for how, move in _PICTURES.items() if square or how not in _QUARTERS}


def drawn(rows: Array) -> dict[str, tuple[str, ...]]:
    """Moves of which one is drawn for each row."""
    known = set(single(rows))
    return {name: moves for name, moves in _DRAWN.items() if set(moves) <= known}


def parts(rows: Array, how: str) -> list[Move]:
    """What a name stands for."""
    return [single(rows)[each] for each in _DRAWN.get(how, (how,))]


def in_line(rows: Array) -> bool:
    """Whether these are series."""
    return bool(rows.shape[1] == 1)


def series(plain: Array) -> Array | None:
    """Rows of a series of few numbers a step, `[rows, steps, channels]` or `[rows, channels, steps]`, as one line each, long ones
    shortened; None for anything else."""
    if plain.ndim != 3 or plain.dtype.kind != "f":
        return None
    steps, channels = max(plain.shape[1:]), min(plain.shape[1:])
    if channels > _CHANNELS or steps < max(_STEPS, 2 * channels):
        return None
    rows = plain if plain.shape[1] == steps else np.moveaxis(plain, 1, 2)
    factor = -(-steps // _LONGEST)
    cut = rows[:, : steps // factor * factor].reshape(len(rows), 1, steps // factor, factor, channels)
    made: Array = cut.mean(3, dtype=np.float32)
    return made


def _negating(number: int, channels: int) -> Move:
    signs = np.where(np.arange(channels) == number, -1, 1).astype(np.float32)
    return lambda rows: rows * signs
