"""Decoders in a loop with a tape that are given, beside what they translate, the very tokens that they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.probe_facts import ShiftFacts
from harness.frameworks.watch.keras_trace import flat, numpy_of

if TYPE_CHECKING:
    from harness.checks.observation import Observation
    from harness.frameworks.watch.keras_tape import Taken

_LEAST, _ROWS, _SHARE, _KINDS = 4, 4, 0.98, 4


def look(seen: Observation, taken: Taken) -> None:
    """Of a step with one model, which is given two rows of ids or more, and one loss: enters it as a shift by no place. One that gives back
    its only input is an autoencoder."""
    if seen.probes.shift is not None or len(taken.forwards) != 1 or len(taken.losses) != 1:
        return
    _, args, kwargs, _ = taken.forwards[0]
    given = [ids for part in flat([list(args), list(kwargs.values())]) if (ids := _ids(part)) is not None]
    wanted = _ids(taken.losses[0][1])
    if wanted is None or len(given) < 2 or len(np.unique(wanted)) < _KINDS:
        return
    values, counts = np.unique(wanted[:, -1], return_counts=True)
    kept = wanted != values[counts.argmax()]  # the padding, or what ends a row
    for ids in given:
        if ids.shape == wanted.shape and kept.any():
            share = float((ids == wanted)[kept].mean())
            if share >= _SHARE:
                seen.probes.shift = ShiftFacts(offset=0, share=share, rows=len(ids), length=ids.shape[1], causal=True, lag=0)
                return


def _ids(part: Any) -> np.ndarray[Any, Any] | None:
    """Whole numbers, int[rows, places]; None of anything else, and of what has no numbers in a graph."""
    if not hasattr(part, "shape") or len(part.shape) != 2 or "int" not in str(part.dtype):
        return None
    plain: np.ndarray[Any, Any] | None = np.asarray(numpy_of(part)) if hasattr(part, "numpy") or isinstance(part, np.ndarray) else None
    if plain is None or plain.ndim != 2 or len(plain) < _ROWS or plain.shape[1] < _LEAST:
        return None
    return plain
