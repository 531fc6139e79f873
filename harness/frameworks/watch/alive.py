"""What there is in this process."""

from __future__ import annotations

import gc
import weakref
from typing import Any

# Of the classes whose objects may hold weights: torch.nn.Module and tf.Module, and the layers of Keras 3 and of tf_keras.
_HOLDERS = frozenset({"Module", "Layer"})

_settled: list[weakref.ref[Any]] = []


def settle() -> None:
    """Tell the garbage collector to leave alone what there is now, but remember what may hold weights: a library may import more of
    itself when a model is there already. What the collector was told before is not looked at again."""
    holds: dict[type, bool] = {}
    for found in gc.get_objects():
        kind = type(found)
        if kind not in holds:
            holds[kind] = kind.__weakrefoffset__ != 0 and any(base.__name__ in _HOLDERS for base in kind.__mro__)
        if holds[kind]:
            _settled.append(weakref.ref(found))
    gc.freeze()


def objects() -> list[Any]:
    """All that the garbage collector knows, and of what it was told to leave alone by `settle`, what may hold weights."""
    found = gc.get_objects()  # a list that were there already would be part of itself, and stay for good with all that is in it
    found.extend(kept for known in _settled if (kept := known()) is not None)
    return found
