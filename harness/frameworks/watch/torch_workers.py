"""Generators that a dataset of PyTorch keeps, and that each worker of a loader is given a copy of, with each pass anew.

A worker is forked, or is sent the dataset, when an epoch begins. What it draws moves its own copy on; the one that is copied next time
still stands where it stood. PyTorch seeds its own generator and the global ones anew in each worker, and no other.
"""

from __future__ import annotations

import ast
import inspect
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import parsed, torch_datasets
from harness.frameworks.watch.sites import Place
from harness.frameworks.watch.torch_state import generators_kept, own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_KINDS = (np.random.Generator, np.random.RandomState, random.Random)
_ROWS = 2


def copied(session: WatchSession, loader: Any) -> Place | None:
    """Where the script makes such a generator; None where the loader keeps its workers, there is no generator that the rows draw from, or
    the script sets it anew in the workers. Rows are read to see it; all generators stand afterwards where they stood."""
    tree, own = parsed.tree(str(session.script)), torch_datasets.whole(loader.dataset)
    if loader.persistent_workers or not hasattr(own, "__len__") or not hasattr(own, "__dict__"):
        return None
    names = {part for node in ast.walk(tree) for part in (getattr(node, "id", ""), getattr(node, "attr", ""))}
    if "get_worker_info" in names:
        return None
    for owner in (own, *(part for part in vars(own).values() if type(part).__module__ == "__main__")):
        for name, generator in vars(owner).items() if hasattr(owner, "__dict__") else ():
            if not isinstance(generator, _KINDS) or _set_anew(loader.worker_init_fn, name):
                continue
            with session.paused(), generators_kept(sys.modules["torch"]), own_generators_kept(own):
                moves = _moves(generator, own)
            if moves:
                return _made(session.script, type(owner).__name__, name)
    return None


def _moves(generator: Any, dataset: Any) -> bool:
    """Whether reading rows draws from it."""
    before = _state(generator)
    for number in range(min(_ROWS, len(dataset))):
        dataset[number]
    return _state(generator) != before


def _state(generator: Any) -> str:
    if isinstance(generator, np.random.Generator):
        return repr(generator.bit_generator.state)
    return repr(generator.get_state() if isinstance(generator, np.random.RandomState) else generator.getstate())


def _set_anew(function: Any, name: str) -> bool:
    """Whether the function that each worker runs first knows of an attribute of this name, or of a dataset."""
    if function is None:
        return False
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return True
    return f".{name}" in text or "dataset" in text


def _made(script: Path, owner: str, name: str) -> Place | None:
    """None where it is set in several places: between two epochs, say."""
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Assign)
             for target in node.targets if isinstance(target, ast.Attribute) and target.attr == name]
    return (str(script), lines[0], owner) if len(lines) == 1 else None
