"""Loops with a tape: embeddings that a loss compares, and what it makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import pulls
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_CALLS = 3


def note(watch: KerasWatcher, tape: Any, target: Any, forwards: list[Any]) -> None:
    """A tape is asked for the gradient of a loss. `forwards`: model, arguments and answer of those that ran under it."""
    import tensorflow as tf

    step = len(watch.seen.steps) + 1
    if not tape._persistent or not pulls.is_due(step) or not 0 < len(forwards) <= _CALLS:
        return
    given = [next(iter(tf.nest.flatten([args, kwargs])), None) for _, args, kwargs, _ in forwards]
    outputs = [made for *_, made in forwards]
    if len(forwards) == 1 and isinstance(outputs[0], tuple | list):  # a model of pairs, that gives the embeddings of both
        outputs = list(outputs[0])
        given = tf.nest.flatten(list(forwards[0][1:3]))[: len(outputs)]
    ranks = [getattr(getattr(made, "shape", None), "rank", None) for made in outputs]
    if set(ranks) != {2} or len(given) != len(outputs) or any(model is not forwards[0][0] for model, *_ in forwards):
        return
    with watch.session.paused():
        parts = tape.gradient(target, outputs)
    if any(part is None for part in parts):
        return
    # Of rows that are looked up in what a model makes the derivative is a list of rows.
    read = [(np.asarray(numpy_of(rows)), np.asarray(numpy_of(made)), np.asarray(numpy_of(tf.convert_to_tensor(by))))
            for rows, made, by in zip(given, outputs, parts, strict=True)]
    pulls.note(watch.seen, watch.session.sites, step, pulls.parted(*read[0]) if len(read) == 1 else read)
