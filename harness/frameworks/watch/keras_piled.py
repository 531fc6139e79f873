"""Loops with a tape that add gradients up without a variable, in a list say, and apply with each step what earlier ones have applied."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import Place, site

_WEIGHTS, _LARGEST, _STEPS = 3, 200_000, 24
_SAME, _APART, _LEFT = 1e-3, 1e-2, 0.1  # parts of what is applied


class Piled:
    """Told of every step."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._before: dict[int, np.ndarray[Any, Any]] = {}

    def stepped(self, applied: list[Any], sources: list[Any], gradients: list[Any]) -> None:
        """`applied`: pairs of gradient and weight; `gradients`: those of the `sources` that the tapes gave since the step before, added
        up."""
        facts = self._session.observation.piled
        if facts.of >= _STEPS or len(sources) != len(gradients):
            return
        came = {id(source): gradient for source, gradient in zip(sources, gradients, strict=True)}
        pairs = [(id(part[1]), _flat(part[0]), _flat(came.get(id(part[1])))) for part in applied
                 if isinstance(part, list | tuple) and len(part) == 2]
        known = [(number, whole, new) for number, whole, new in pairs if whole is not None and new is not None][:_WEIGHTS]
        judged = [_piles(self._before[number], whole, new) for number, whole, new in known if number in self._before]
        self._before = {number: whole for number, whole, _ in known}
        if judged:
            facts.of += 1
            facts.steps += all(judged)
            facts.site = facts.site or site(cleared(self._session.script)) or self._session.sites.here()


def cleared(script: Path) -> Place | None:
    """Where a script does set buffers back, at another time than after each step: the only line that assigns zeros to something, or the
    only one that calls the function which does."""
    tree = parsed.tree(str(script))
    zeroing = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node.func) == "assign" and node.args
               and isinstance(node.args[0], ast.Call) and name_of(node.args[0].func) in ("zeros_like", "zeros")]
    if len(zeroing) != 1:
        return None
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and zeroing[0] in ast.walk(node)]
    if not inside:
        return str(script), zeroing[0].lineno, ""
    inner = max(inside, key=lambda node: node.lineno)
    calls = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node.func) == inner.name]
    return (str(script), calls[0], "") if len(calls) == 1 else None


def _piles(before: np.ndarray[Any, Any], whole: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> bool:
    """Whether what is applied is what was applied before and a multiple of what came since, and no multiple of that alone."""
    size = float(np.linalg.norm(whole))
    if whole.shape != before.shape or whole.shape != new.shape or not np.linalg.norm(before) > _LEFT * size > 0:
        return False
    return _beside(whole - before, new) <= _SAME * size and _beside(whole, new) > _APART * size


def _beside(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """How much of one lies at a right angle to another."""
    square = float(other @ other)
    return float(np.linalg.norm(one - (one @ other / square) * other)) if square else float(np.linalg.norm(one))


def _flat(gradient: Any) -> np.ndarray[Any, Any] | None:
    """float64[n]; None of what is no gradient, is not finite, or is one number or too large."""
    if gradient is None or not hasattr(gradient, "shape"):
        return None
    import tensorflow as tf

    flat = np.ravel(np.asarray(numpy_of(tf.convert_to_tensor(gradient)), dtype=np.float64))
    return flat if 1 < flat.size <= _LARGEST and np.isfinite(flat).all() else None
