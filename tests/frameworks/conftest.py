"""Watching live training takes its time budget from the clock, so these tests are run apart from the quick ones."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.process.environment import cores

# Side by side each process takes its share of the cores, as scripts do; before a framework is loaded.
if _workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
    for _threads in ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
        os.environ.setdefault(_threads, str(max(1, cores() // int(_workers))))


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


@pytest.fixture(autouse=True)
def _what_a_script_sets_for_the_process() -> Iterator[None]:
    """A script asks a framework for other number types for all that follows. In this process, other tests follow."""
    yield
    if torch := sys.modules.get("torch"):
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(mode=True)
    if tensorflow := sys.modules.get("tensorflow"):
        tensorflow.config.run_functions_eagerly(run_eagerly=False)
    for name in ("keras", "tf_keras"):
        if keras := sys.modules.get(name):
            keras.backend.set_floatx("float32")
            keras.mixed_precision.set_global_policy("float32")
