"""Rows of an evaluation that a function draws from at random as they are read (`dataset.map(augment)`): what the model says of them, and
what of the rows that the function is given."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.evaluation_facts import DrawnFacts
from harness.frameworks.watch import motions
from harness.frameworks.watch.keras_data import chain_of, class_ids, columns_of
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_ROWS, _LEAST, _BATCH = 240, 50, 60
_CHANGED, _TRIED = 0.5, 12  # share of elements that are others when they are made again; of so many
_ORDERED = ("Shuffle", "Repeat", "Interleave", "FlatMap", "Generator", "Zip", "Concatenate")

Array = np.ndarray[Any, Any]


class DrawnRows:
    """Keeps the first dataset that a model is evaluated on, and asks again in the end."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._asked: tuple[Any, Any] | None = None

    def given(self, model: Any, data: Any) -> None:
        """A model is to be evaluated on this."""
        if self._asked is None and hasattr(data, "element_spec"):
            self._asked = model, data

    def measure(self) -> None:
        """Enters what was found; nothing where rows stay as they are, or where what draws gives them another shape or kind."""
        if self._asked is None or not self._watch.seen.steps:
            return
        model, dataset = self._asked
        chain = chain_of(dataset)
        if any(kind in type(part).__name__ for part in chain for kind in _ORDERED):
            return  # read again, its rows may come in another order
        mapped = next((part for part in chain if "Map" in type(part).__name__), None)
        source = chain[chain.index(mapped) + 1] if mapped is not None and chain.index(mapped) + 1 < len(chain) else None
        if mapped is None or source is None or mapped.element_spec != source.element_spec:
            return
        name = getattr(getattr(getattr(mapped, "_map_func", None), "_func", None), "__name__", "")
        if not motions.AUGMENTS.search(name):
            return
        in_batches = not any("Batch" in type(part).__name__ for part in chain[:chain.index(mapped)])
        with self._watch.session.paused():
            if not _draws(mapped, source):
                return
            readings = [list(_rows(part, in_batches)) for part in (mapped, mapped, source, source)]
            if min(map(len, readings)) < _LEAST or len({len(rows) for rows in readings}) > 1:
                return
            first, again, plain, same = readings
            if not all(np.array_equal(one[0], other[0]) for one, other in zip(plain, same, strict=True)):
                return
            told = [share for rows in (first, again, plain) if (share := _told(model, rows)) is not None]
        if len(told) == 3:
            self._watch.seen.evaluation.drawn = DrawnFacts(
                rows=len(first), own=(told[0] + told[1]) / 2, plain=told[2], what=name, site=site(self._watch.data.place_of(mapped)))


def _draws(mapped: Any, source: Any) -> bool:
    """Whether the function makes something else of most elements when it is given them again. With a seed for all of TensorFlow it begins
    with the same draws in each pass over the dataset."""
    import tensorflow as tf

    function = getattr(getattr(mapped, "_map_func", None), "function", None)
    if function is None:
        return False
    changed = []
    for element in source.take(_TRIED):
        parts = tf.nest.flatten(element)
        made = [[numpy_of(part) for part in tf.nest.flatten(function(*parts))] for _ in range(2)]
        changed.append(any(not np.array_equal(one, other) for one, other in zip(*made, strict=True)))
    return sum(changed) > _CHANGED * len(changed)


def _rows(dataset: Any, in_batches: bool) -> Iterator[tuple[Array, Any]]:
    """Single rows of inputs, one array each, with their labels; none where there are several inputs, or no labels."""
    if not isinstance(dataset.element_spec, tuple) or len(dataset.element_spec) != 2:
        return
    batches = (columns_of(element) for element in (dataset if in_batches else dataset.batch(_BATCH)))
    rows = ((x, y) for columns in batches if set(columns) == {"x", "y"} for x, y in zip(columns["x"], columns["y"], strict=False))
    yield from itertools.islice(rows, _ROWS)


def _told(model: Any, rows: list[tuple[Array, Any]]) -> float | None:
    """The share of rows that a model tells rightly; None where it gives no scores of classes, or the labels are none."""
    labels = class_ids(np.stack([label for _, label in rows]))
    if labels is None:
        return None
    right = 0
    for start in range(0, len(rows), _BATCH):
        scores = numpy_of(model(np.stack([row for row, _ in rows[start:start + _BATCH]]), training=False))
        if not isinstance(scores, np.ndarray) or scores.ndim != 2 or scores.shape[1] < 2:
            return None
        right += sum(one == other for one, other in zip(scores.argmax(1).tolist(), labels[start:start + _BATCH], strict=True))
    return right / len(rows)
