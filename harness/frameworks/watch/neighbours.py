"""What a row's output owes to the other rows of its batch, and what padding leaves of it: measured on a model's outputs as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.checks.probe_facts import RowFacts

LEAST = 4
_SUSPECT = 0.02
_PADDED = 0.9
_STEPS = 8  # of rows that come with padding
_ALIKE = 1e-3

Array = np.ndarray[Any, Any]


def moved(rows: int) -> list[int]:
    """The rows of a batch moved by one."""
    return [rows - 1, *range(rows - 1)]


def replaced(rows: int) -> list[int]:
    """The last row as it is, and copies of the first in the place of all others.

    Copies, since what a model reads of the others as a set, attention for one, does not notice that they have changed places.
    """
    return [0] * (rows - 1) + [rows - 1]


def measure(plain: list[Array], after_moved: list[Array], after_replaced: list[Array], rows: int) -> RowFacts | None:
    """Facts of the outputs of one batch: as it is, `moved`, and `replaced`. None where no output has a finite row for each row."""
    chosen = [number for number, output in enumerate(plain)
              if _by_rows(output, rows) and not _of_pairs(output, after_moved[number], rows)]
    if not chosen or not all(np.isfinite(plain[number]).all() for number in chosen):
        return None
    order = max(_apart(plain[number], np.roll(after_moved[number], -1, 0), slice(None)) for number in chosen)
    return RowFacts(order=order, influence=max(_apart(plain[number], after_replaced[number], rows - 1) for number in chosen))


def suspect(facts: RowFacts | None) -> bool:
    """Whether rows owe each other more than rounding."""
    return facts is not None and max(facts.order, facts.influence) > _SUSPECT


def of_one(shape: Sequence[int], axis: int) -> bool:
    """Whether a softmax along this axis is taken of single numbers, while the axis beside it, or the two behind it, are longer: a sequence
    of one token has no longer axis."""
    axis %= len(shape)
    if len(shape) < 3 or shape[axis] != 1 or not axis:
        return False
    return max(shape[-2:]) > 1 if axis >= len(shape) - 2 else min(shape[axis + 1:]) > 1


def spread(outputs: list[Array], rows: int) -> float | None:
    """How far most rows of the last output with a row for each lie from the one in the middle: a few that are longer do not count."""
    chosen = [output for output in outputs if output.ndim and output.shape[0] == rows and output.dtype.kind == "f"]
    if not chosen:
        return None
    found: Array = chosen[-1].astype(np.float64)
    return float(np.median(np.abs(found - np.median(found, axis=0)), axis=0).mean())


def alike(result: Array) -> bool:
    """Whether all rows of a result are the same, but for rounding."""
    return bool(np.allclose(result, result[:1], rtol=_ALIKE, atol=_ALIKE * (float(np.abs(result).max()) or 1.0)))


def keeps(first: Array, second: Array, rows: int, kept: int) -> bool | None:
    """Whether a kept row is the same in two results, in whatever axis the rows may lie; None where there is no such axis."""
    axes = [axis for axis in range(first.ndim) if first.shape[axis] and first.shape[axis] % rows == 0]
    for axis in axes:
        width = first.shape[axis] // rows
        for places in (range(kept * width, (kept + 1) * width), range(kept, first.shape[axis], rows)):
            a, b = (np.take(found, list(places), axis) for found in (first, second))
            if np.allclose(a, b, rtol=_ALIKE, atol=_ALIKE * (float(np.abs(first).max()) or 1.0)):
                return True
    return False if axes else None


def placed(facts: RowFacts) -> bool:
    """Whether a row owes something to its place in the batch, and nothing to what the other rows are."""
    return facts.order > _SUSPECT >= facts.influence


def moves(first: Array, second: Array, rows: int) -> bool | None:
    """Whether a result goes with the rows when these are moved by one, in whatever axis they may lie; None where there is no such axis, or
    where it is made of no row."""
    axes = [axis for axis in range(first.ndim) if first.shape[axis] == rows]
    if not axes or first.shape != second.shape or np.array_equal(first, second):
        return None
    least = _ALIKE * (float(np.abs(first).max()) or 1.0)
    return any(np.allclose(np.roll(first, 1, axis), second, rtol=_ALIKE, atol=least) for axis in axes)


@dataclass(frozen=True)
class Padding:
    """Padding at the end of rows of ids: its `share` of a batch, the length of the `longest` row without it, and the `order` of positions
    `int[rows, length]` that brings it to the front of each row.
    """

    share: float
    longest: int
    order: Array


def padding(given: Array) -> Padding | None:
    """Padding of rows of ids, `int[rows, length]`, or of rows of steps, `float[rows, length, numbers]`, whose padding is zeros; None where
    it is not at the end of nine of ten rows, or a row is nothing else."""
    rows, length = given.shape[:2]
    if given.ndim > 2:
        real, ended = (given != 0).any(2), int((given[:, -1] == 0).all(1).sum())
    else:
        values, counts = np.unique(given[:, -1], return_counts=True)
        real, ended = given != values[counts.argmax()], int(counts.max())
    if rows < LEAST or ended < _PADDED * rows or not real.any(1).all():
        return None
    lengths = length - real[:, ::-1].argmax(1)
    order = (np.arange(length)[None, :] + lengths[:, None]) % length
    return Padding(float(1 - real.mean()), int(lengths.max()), order)


def in_steps(shape: Sequence[int], *, floats: bool) -> bool:
    """Whether rows may come with padding: ids by their places, or numbers by the steps of each row."""
    return len(shape) == (3 if floats else 2) and shape[1] >= _STEPS


def _by_rows(output: Array, rows: int) -> bool:
    """Whether an output has a row for each row; a table of all pairs of rows does not count."""
    return bool(output.ndim and output.shape[0] == rows and (output.ndim == 1 or output.shape[1] != rows) and output.dtype.kind == "f")


def _of_pairs(output: Array, after_moved: Array, rows: int) -> bool:
    """Whether an output holds each row against all rows of several kinds, side by side: these move along the second axis as well."""
    if output.ndim != 2 or output.shape != after_moved.shape or output.shape[1] % rows:
        return False
    table = np.roll(output.reshape(rows, -1, rows), (1, 1), (0, 2)).reshape(output.shape)
    return bool(np.allclose(table, after_moved, rtol=_ALIKE, atol=_ALIKE * (float(np.abs(output).max()) or 1.0)))


def _apart(first: Array, second: Array, which: Any) -> float:
    if first.shape != second.shape:
        return 0.0
    distance = float(first.astype(np.float64).std(0).mean())
    moved_by = float(np.abs(first[which].astype(np.float64) - second[which]).mean())
    return moved_by / distance if distance > 1e-6 * float(np.abs(first).max()) else 0.0
