"""Watching live training takes its time budget from the clock, so these tests are run apart from the quick ones."""

from __future__ import annotations

import argparse
import functools
import gc
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.process.environment import cores

_LATELY = 30  # commits
# Side by side each process takes its share of the cores, as scripts do; before a framework is loaded.
if _workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
    for _threads in ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
        os.environ.setdefault(_threads, str(max(1, cores() // int(_workers))))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--left-out 1/3`: a part of the files, told by their names, that is not run."""
    parser.addoption("--left-out", metavar="K/N", type=_part, help="leave the K-th of N parts of the files out, but those changed lately")


def _part(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/([1-9]\d*)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no K/N, such as 1/3")
    return int(found[1]), int(found[2])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a part of the files out where that is asked for."""
    asked = config.getoption("left_out", default=None)
    if asked is None or not collection_path.name.startswith("test_"):
        return None
    part, parts = asked
    left = zlib.crc32(collection_path.name.encode()) % parts == part % parts and collection_path.name not in _changed()
    return True if left else None


@functools.cache
def _changed() -> set[str]:
    """Files of tests that the last commits have changed; nothing where git does not know them."""
    told = subprocess.run(["git", "diff", "--name-only", f"HEAD~{_LATELY}", "--", "."], cwd=Path(__file__).parent, capture_output=True,
                          text=True, check=False)
    return {Path(name).name for name in told.stdout.split()}


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
