"""Policies that learn from what their actions were worth, in loops with a tape: does a step make good actions likelier?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import worth
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import names_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

Array = np.ndarray[Any, Any]


def went_back(watch: KerasWatcher, tape: Any, target: Any, scores: list[Any]) -> None:
    """A tape was asked for a gradient. `scores`: what models gave under it, of which one may be float[rows, actions]."""
    made = next((given for given in scores if getattr(getattr(given, "shape", None), "rank", None) == 2 and given.shape[1] > 1), None)
    if made is None or not tape._persistent:
        return
    taken = _actions(watch, *(int(size) for size in made.shape))
    if taken is None:
        return
    with watch.session.paused():
        back = tape.gradient(target, made)
    if back is not None:
        # By the score of the action that was taken a loss goes the way that it goes by its log-probability.
        pull = np.asarray(numpy_of(back))[np.arange(len(taken)), taken]
        worth.note(watch.seen, watch.session.sites, pull, _read)


def _actions(watch: KerasWatcher, rows: int, actions: int) -> Array | None:
    """The actions that were taken, int[rows], by what the script's frames call so."""
    for frame in watch.session.sites.frames():
        for name, value in names_of(frame).items():
            read = _read(value) if "act" in name.lower() else None
            if read is not None and read.dtype.kind in "iu" and read.shape == (rows,) and read.min() >= 0 and read.max() < actions:
                return read.astype(np.int64)
    return None


def _read(value: Any) -> Array | None:
    """An array of what a name stands for; None for anything but tensors and arrays."""
    if isinstance(value, np.ndarray):
        return value
    return np.asarray(numpy_of(value)) if hasattr(value, "numpy") and hasattr(value, "shape") else None
