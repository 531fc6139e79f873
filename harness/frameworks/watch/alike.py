"""Layers whose units began alike and have stayed so: each of them computes what its neighbours do, before the steps and after them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harness.checks.probe_facts import AlikeFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

L = TypeVar("L")
Array = np.ndarray[Any, Any]
_UNITS, _INPUTS = 4, 2
# Deviation between units, as a part of how far the steps moved them: rounding differs from column to column of a product.
_ROUNDING = 0.01
_CONSTANTS = {"constant_", "ones_", "zeros_", "fill_", "fill", "zero_", "Constant", "Ones", "Zeros", "full_like", "ones_like", "zeros_like"}
_NAMED = {"ones", "zeros"}


def measure(weights: Iterable[tuple[L, Array, Array]]) -> tuple[L, AlikeFacts] | None:
    """The first layer whose units are alike, of (layer, first weights, weights of now), both float[units, inputs, ...].

    Weights that have not moved count only where no matrix of the model tells its units apart: nothing else would have kept them.
    """
    kept = [(layer, first, now) for layer, first, now in weights if first.ndim > 1]
    wide = [(layer, first, now) for layer, first, now in kept if len(first) >= _UNITS and first[0].size >= _INPUTS]
    constant = all(float(np.ptp(first)) == 0.0 for _, first, _ in kept)
    found = [(layer, first) for layer, first, now in wide if _alike(first, now, still=constant)]
    if not found:
        return None
    layer, first = found[0]
    return layer, AlikeFacts(units=len(first), layers=len(found), matrices=len(kept), value=float(first.flat[0]),
                             constant=float(np.ptp(first)) == 0.0)


def _alike(first: Array, now: Array, *, still: bool) -> bool:
    if not np.isfinite(now).all() or float(np.ptp(first, axis=0).max()) > 0.0:
        return False
    moved = float(np.sqrt(np.mean((now - first) ** 2)))
    return float(now.std(axis=0).max()) <= _ROUNDING * moved if moved > 0 else still


def written(script: Path) -> Place | None:
    """The first line of a script that fills weights with one number, or asks a layer for that."""
    lines = []
    for node in ast.walk(parsed.tree(str(script))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            lines += [node.lineno] if name in _CONSTANTS and "bias" not in ast.unparse(node) else []
        if isinstance(node, ast.keyword) and "kernel" in (node.arg or "") and getattr(node.value, "value", None) in _NAMED:
            lines.append(node.value.lineno)
    return (str(script), min(lines), "<module>") if lines else None
