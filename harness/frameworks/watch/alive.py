"""What there is in this process."""

from __future__ import annotations

import gc
from typing import Any


def objects() -> list[Any]:
    """All that the garbage collector knows, with what it was told to leave alone: that is done after each long import, and a library may
    import more of itself when a model is there already."""
    frozen = gc.get_freeze_count() > 0
    if frozen:
        gc.unfreeze()
    found = gc.get_objects()
    if frozen:
        gc.freeze()
    return found
