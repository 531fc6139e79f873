"""What there is, also after a long import has told the collector to leave everything alone."""

from __future__ import annotations

import gc

from harness.frameworks.watch import alive
from harness.frameworks.watch.seasoned import Seasoned


class Kept:
    """Stands for a model."""


def test_what_was_frozen_is_there() -> None:
    made = Kept()
    before = gc.get_freeze_count()
    gc.freeze()
    try:
        assert not any(found is made for found in gc.get_objects())
        assert any(found is made for found in alive.objects())
        assert gc.get_freeze_count() > 0
        assert made in Seasoned(Kept, late=True)
    finally:
        if not before:
            gc.unfreeze()
    assert any(found is made for found in alive.objects())
