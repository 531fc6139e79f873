"""Watching live training takes its time budget from the clock, so these tests are run apart from the quick ones."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in this folder `long`."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.long)


@pytest.fixture(autouse=True, scope="module")
def _what_earlier_files_left() -> None:
    """Frameworks keep graphs for as long as the process lives. Every full collection would go through all of them again."""
    gc.collect()
    gc.freeze()
