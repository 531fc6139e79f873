"""Policies that learn from what their actions were worth, in loops with a tape: does a step make good actions likelier?"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import parsed, worth
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import names_of, site

if TYPE_CHECKING:
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.keras_watch import KerasWatcher

Array = np.ndarray[Any, Any]
_NEAR = 1e-3


def went_back(watch: KerasWatcher, tape: Any, target: Any, scores: list[Any]) -> None:
    """A tape was asked for a gradient. `scores`: what models gave under it, of which one may be float[rows, actions]."""
    made = next((given for given in scores if getattr(getattr(given, "shape", None), "rank", None) == 2 and given.shape[1] > 1), None)
    if made is None or not tape._persistent:
        return
    _entropy(watch, tape, target, made)
    taken = _actions(watch, *(int(size) for size in made.shape))
    if taken is None:
        return
    with watch.session.paused():
        back = tape.gradient(target, made)
    if back is not None:
        # By the score of the action that was taken a loss goes the way that it goes by its log-probability.
        pull = np.asarray(numpy_of(back))[np.arange(len(taken)), taken]
        worth.note(watch.seen, watch.session.sites, pull, _read)


def _entropy(watch: KerasWatcher, tape: Any, target: Any, scores: Any) -> None:
    """The entropy of a policy, made by hand and called so by the script's frames, and the derivative of the loss by it."""
    plain = np.asarray(numpy_of(scores)).astype(np.float64)
    given = plain if (plain >= 0).all() and np.allclose(plain.sum(1), 1, atol=1e-4) else np.exp(plain - plain.max(1, keepdims=True))
    shares = given / given.sum(1, keepdims=True)
    rows = -(shares * np.log(shares + 1e-12)).sum(1)
    for frame in watch.session.sites.frames():
        for name, value in names_of(frame).items():
            read = _read(value) if "ent" in name.lower() and hasattr(value, "numpy") else None
            if read is None or read.dtype.kind != "f" or not (
                    np.allclose(read, rows.mean(), rtol=_NEAR) if read.ndim == 0 else read.shape == rows.shape and np.allclose(
                        read, rows, rtol=_NEAR, atol=_NEAR)):
                continue
            with watch.session.paused():
                by = tape.gradient(target, value)
            if by is not None:
                worth.entropy(watch.seen, float(np.sum(numpy_of(by))), _made(frame.f_code.co_filename, name))
                return


def _made(file: str, name: str) -> Site | None:
    """The last line that puts the entropy into something else, a sum with a loss most likely."""
    nodes = [node for node in ast.walk(parsed.tree(file)) if isinstance(node, ast.Assign | ast.Return)]
    lines = [node.lineno for node in nodes if node.value is not None and any(
        isinstance(part, ast.Name) and part.id == name for part in ast.walk(node.value))]
    return site((file, max(lines), "<module>")) if lines else None


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
