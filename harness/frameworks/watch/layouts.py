"""Images and series whose numbers lie in another order than their axes say: cut with `reshape` where axes should have been exchanged.

Neighbours in space and time are alike. In arrays that were cut wrongly those that became neighbours are none, and the same numbers, read in
the order in which they lie, are smoother. Nothing is said of data without any likeness of neighbours: both readings are equally rough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.checks.data_facts import LayoutFacts

Array = np.ndarray[Any, Any]

_ROWS, _LEAST = 64, 4
_COLOURS, _SIDE = (3, 4), 8
_ROUGHER, _AGREE = 1.25, 0.9
# Of noisy images, which differ less, where there are many rows, and most of them agree along each axis by itself.
_NOISY, _MANY, _EACH = 1.04, 32, 0.65
_CHANNELS, _TIMES = 16, 2
_PLACES, _JUMP, _NO_JUMP = 32, 1.5, 1.25


def facts(data: Array) -> LayoutFacts | None:
    """How much rougher images [rows, 3 or 4 colours and two sides] or series [rows, times and channels] are than read the other way.

    The axes behind the rows may come in either order. None where the axes say what the numbers do, and where that cannot be told.
    """
    if data.ndim not in (3, 4) or min(data.shape) < 1 or len(data) < _LEAST or data.dtype.kind not in "fiu":
        return None
    sample: Array = data[:_ROWS].astype(np.float32)
    if not np.isfinite(sample).all():
        return None
    if data.ndim == 4:
        return _image(sample)
    return _series(sample) if data.dtype.kind == "f" else None  # whole numbers are ids


def _image(came: Array) -> LayoutFacts | None:
    _, one, two, three = came.shape
    first, last = one in _COLOURS, three in _COLOURS
    if first == last or sorted((one, two, three))[1] < _SIDE:
        return None
    if first:
        before, axes, shape, along = (two, three, one), (2, 3), (two, three, one), (1, 2)
    else:
        before, axes, shape, along = (three, one, two), (1, 2), (three, one, two), (2, 3)
    rough, smooth = [_steps(came, axis) for axis in axes], [_read(came, *shape, along=(axis,)) for axis in along]
    found = _judged(came, before, rough[0] + rough[1], smooth[0] + smooth[1], _ROUGHER)
    if found is None and len(came) >= _MANY and all((one < other).mean() >= _EACH for one in smooth for other in rough):
        found = _judged(came, before, rough[0] + rough[1], smooth[0] + smooth[1], _NOISY)
    return found


def _series(came: Array) -> LayoutFacts | None:
    """Also the places count at which channels would end: there is a jump between two channels, and none within one."""
    _, one, two = came.shape
    times, channels = max(one, two), min(one, two)
    if not 2 <= channels <= _CHANNELS or times < max(_SIDE, _TIMES * channels) or len(came) * (channels - 1) < _PLACES:
        return None
    jump = _jump(came.reshape(len(came), -1), times, channels)
    if one == times and jump > _JUMP:
        return _judged(came, (two, one), _steps(came, 1), _read(came, two, one, along=(2,)), _ROUGHER)
    if two == times and 1 / _NO_JUMP < jump < _NO_JUMP:
        return _judged(came, (two, one), _steps(came, 2), _read(came, two, one, along=(1,)), _ROUGHER)
    return None


def _judged(came: Array, before: tuple[int, ...], rough: Array, smooth: Array, least: float) -> LayoutFacts | None:
    told = rough > 0
    if told.sum() < _LEAST or (smooth[told] < rough[told]).mean() < _AGREE:
        return None
    rougher = float(np.median(rough[told] / np.maximum(smooth[told], 1e-9)))
    return LayoutFacts(before=list(before), after=list(came.shape[1:]), rougher=rougher) if rougher > least else None


def _read(came: Array, *shape: int, along: tuple[int, ...]) -> Array:
    read = came.reshape(-1, *shape)
    return sum((_steps(read, axis) for axis in along), np.zeros(len(came), np.float32))


def _steps(data: Array, axis: int) -> Array:
    """Mean step between neighbours along an axis, float32[rows]."""
    found: Array = np.abs(np.diff(data, axis=axis)).reshape(len(data), -1).mean(1)
    return found


def _jump(flat: Array, times: int, channels: int) -> float:
    """How much larger than others the steps are at which channels end that lie one behind the other, in rows float32[rows, numbers].

    The others are those at which the same channels would meet if the numbers of a moment lay beside each other.
    """
    steps = np.abs(np.diff(flat, axis=1))
    ends: Array = np.arange(1, channels) * times - 1
    alike = np.setdiff1d(np.flatnonzero(np.isin(np.arange(steps.shape[1]) % channels, ends % channels)), ends)
    return float(steps[:, ends].mean() / max(steps[:, alike].mean(), 1e-9))
