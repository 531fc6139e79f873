"""Rows that were trained on, with their labels: what a simple baseline is asked about."""

from __future__ import annotations

from typing import Any

import numpy as np

_KEPT_BYTES = 32 << 20
_PASS = 0.9  # of the rows of a dataset: a last, shorter batch may be left out


class KeptRows:
    """Keeps each row once: one that is seen twice would be learnt from itself."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, Any]] = []
        self._known: set[int] = set()
        self._bytes = 0

    @property
    def full(self) -> bool:
        """Whether no more are kept."""
        return self._bytes >= _KEPT_BYTES

    def add(self, data: Any, labels: list[Any], mask: Any, *, first: bool, whole: int | None) -> None:
        """A batch of numbers or ids; `mask`: 0 where a row is filled up. `first`: each is another row of the dataset, though their contents
        may be the same; `whole`: how many rows a pass has: after that they come again, in whatever way they are changed on the way."""
        if not first and whole and len(self._rows) >= _PASS * whole:
            return
        self._bytes += data.nbytes
        for number, label in enumerate(labels):
            row = data[number]
            if mask is not None and getattr(mask, "shape", None) == data.shape:
                row = row[mask[number] != 0]
            key = hash((row.tobytes(), row.shape))
            if first or key not in self._known:
                self._known.add(key)
                self._rows.append((np.array(row), label))

    def seen(self) -> tuple[str, list[Any], Any]:
        """`tokens` or `numbers`; the rows; their labels, or numbers of one shape."""
        if not self._rows:
            return "numbers", [], np.array([])
        first, label = self._rows[0]
        whole, alike = first.dtype.kind in "iu" and first.dtype.itemsize > 1 and first.ndim == 1, np.shape(label)
        # Another training of the script may be of something else.
        rows = [(row, label) for row, label in self._rows if (whole or row.shape == first.shape) and np.shape(label) == alike]
        return ("tokens" if whole else "numbers"), [row for row, _ in rows], np.array([label for _, label in rows])
