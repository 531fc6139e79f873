"""NaN or infinity in what a `tf.data` pipeline gives: the operation of a mapped function that makes it out of finite rows."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from harness.frameworks.watch import keras_operations
from harness.frameworks.watch.keras_data import chain_of
from harness.frameworks.watch.keras_heard import Operation, listening
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import Place

_ELEMENTS, _SECONDS = 400, 2.0
# What only reads on, or in another order: a function's rows can be had from behind it.
_PASSES = ("Shuffle", "Prefetch", "Cache", "Repeat", "Options", "Take", "Skip", "Shard")
# Whoever reads these once more takes something of them away: a generator's rows, the next order of a shuffling.
_SPENT = ("Generator", "Shuffle", "Iterator", "FlatMap", "Interleave", "Sample", "Random")


def born(dataset: Any, place: Callable[[], Place | None]) -> Place | None:
    """The script's line at which the first operation of a function that `dataset` maps makes NaN or infinity of numbers; None where none
    does, or its rows can be read only once. Up to 400 elements are looked at, for two seconds."""
    for part in reversed(chain_of(dataset)):
        function = getattr(getattr(part, "_map_func", None), "_func", None)
        rows = _behind(part)
        found = _first(function, rows, place) if callable(function) and rows is not None else None
        if found is not None:
            return found
    return None


def _behind(part: Any) -> Any:
    """The dataset whose elements a mapped function is given."""
    inner = getattr(part, "_input_dataset", None)
    while inner is not None and _is(inner, _PASSES):
        inner = getattr(inner, "_input_dataset", None)
    return None if inner is None or any(_is(each, _SPENT) for each in chain_of(inner)) else inner


def _is(part: Any, kinds: tuple[str, ...]) -> bool:
    return any(kind in type(part).__name__ for kind in kinds)


def _first(function: Callable[..., Any], rows: Any, place: Callable[[], Place | None]) -> Place | None:
    import tensorflow as tf

    until = time.monotonic() + _SECONDS
    for element in islice(rows, _ELEMENTS):
        if time.monotonic() > until or not all(_finite(leaf) for leaf in tf.nest.flatten(element)):
            return None
        heard: list[Operation] = []
        # What is written for a graph need not run without one.
        with contextlib.suppress(Exception), listening(heard, place):
            function(*element) if isinstance(element, tuple) else function(element)
        first = keras_operations.birth(heard)
        if first is not None and first.place is not None:
            return first.place
    return None


def _finite(leaf: Any) -> bool:
    value = np.asarray(numpy_of(leaf))
    return value.dtype.kind != "f" or bool(np.isfinite(value).all())
