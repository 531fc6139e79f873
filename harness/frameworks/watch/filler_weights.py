"""Weights of attention, or of a weighted mean of steps, that lie on the filler of padded rows alone."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np

from harness.frameworks.watch import fills, parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_ALL = 0.999  # of a weight: what a softmax leaves beside -10 or less
_LARGEST = 1 << 24  # numbers of a softmax
_LARGE = 100.0  # what is added to scores that are not to count
_FILLING = ("masked_fill", "masked_fill_", "where")

Array = np.ndarray[Any, Any]


def share(weights: Any, axis: int, given: list[Any]) -> float | None:
    """Of a softmax `float[rows, ..., length, ...]` along `axis`, for a model that was `given` these inputs: the share of filler in the
    batch where every row that has any reads nothing else; None where that is not so, or cannot be told."""
    plain = tensors.array(weights) if math.prod(weights.shape) <= _LARGEST else None
    if plain is None or plain.ndim < 2 or plain.dtype.kind != "f":
        return None
    moved = np.moveaxis(plain, axis, -1)
    length = moved.shape[-1]
    for inputs in given:
        rows = int(inputs.shape[0]) if len(inputs.shape) in (2, 3) and int(inputs.shape[1]) == length else 0
        if not rows or moved.size % (rows * length) or moved.shape[0] % rows:
            continue
        padded = fills.ends(inputs, (rows, length))
        if padded is None:
            continue
        some = padded.any(1) & ~padded.all(1)
        each = moved.reshape(rows, -1, length)[some]
        if each.size and ((each * padded[some][:, None]).sum(-1) > _ALL).all():
            return float(padded.mean())
    return None


def hidden(script: Path) -> Place | None:
    """The only line of a script that puts a large negative number where scores are not to count; else the only one that hands a mask to
    attention that is taken in one call."""
    tree = parsed.tree(str(script))
    lines: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and name_of(node.func) in _FILLING:
            parts = node.args
        lines.update(part.lineno for part in parts if _lowest(part))
    lines = lines or {word.value.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords
                      if word.arg == "attn_mask"}
    return (str(script), lines.pop(), "forward") if len(lines) == 1 else None


def _lowest(node: ast.expr) -> bool:
    """Whether this is -1e4, `float("-inf")`, `-np.inf`, `torch.finfo(scores.dtype).min` or the like."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = node.operand
        return (isinstance(inner, ast.Constant) and isinstance(inner.value, int | float) and inner.value >= _LARGE) or "inf" in ast.unparse(
            inner).lower()
    if isinstance(node, ast.Attribute):
        return node.attr == "min" and "finfo" in ast.unparse(node.value)
    return isinstance(node, ast.Call) and name_of(node.func) == "float" and "-inf" in ast.unparse(node)
