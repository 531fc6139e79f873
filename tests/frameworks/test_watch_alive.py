"""What there is, also after a long import has told the collector to leave everything alone."""

from __future__ import annotations

import gc

from harness.frameworks.watch import alive
from harness.frameworks.watch.seasoned import Seasoned


class Module:
    """Stands for what the frameworks' models extend."""


class Kept(Module):
    """Stands for a model."""


def _known(made: object) -> int:
    return [id(found) for found in alive.objects()].count(id(made))


def test_what_was_settled_is_there() -> None:
    made = Kept()
    before = gc.get_freeze_count()
    alive.settle()
    try:
        assert gc.get_freeze_count() > before
        assert id(made) not in [id(found) for found in gc.get_objects()]
        assert _known(made) == 1
        assert made in Seasoned(Kept, late=True)
    finally:
        if not before:
            gc.unfreeze()


def test_nothing_is_kept_alive() -> None:
    made, before = Kept(), gc.get_freeze_count()
    alive.settle()
    try:
        del made
        assert Kept not in [type(found) for found in alive.objects()]
    finally:
        if not before:
            gc.unfreeze()


def test_what_others_froze_is_left_alone() -> None:
    made, before = Kept(), gc.get_freeze_count()
    gc.freeze()
    try:
        assert _known(made) == 0
    finally:
        if not before:
            gc.unfreeze()
