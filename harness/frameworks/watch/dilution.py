"""Answers that are the smaller the more padding a row has: how much of each row is none, and what that explains of the answers' errors."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.evaluation_facts import DilutedFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_LARGEST, _STEPS, _FILLED, _LENGTHS = 1 << 22, 8, 0.25, 4
_LEAST = 100
_POOLS = ("GlobalAveragePooling1D", "GlobalAvgPool1D", "adaptive_avg_pool1d", "AdaptiveAvgPool1d")
_SECOND = ("1", "-2", "[1]", "(1,)")

Array = np.ndarray[Any, Any]


def shares(given: Iterable[Any], rows: int) -> Array | None:
    """Of each row's steps the share that is no padding, `float[rows]`: read off a mask, else off ids or rows of numbers that end in zeros.
    None where hardly any row is padded, or all are alike."""
    parts = [plain for plain in map(tensors.array, given)
             if plain is not None and plain.ndim in (2, 3) and len(plain) == rows and plain.shape[1] >= _STEPS and plain.size <= _LARGEST]
    found = [share for plain in parts if (share := _ends(plain)) is not None]
    return min(found, key=lambda share: float(share.mean())) if found else None


def real(given: Iterable[Any], rows: int) -> float | None:
    """Of all steps of a batch the share that is no padding; None where hardly any row is padded."""
    share = shares(given, rows)
    return float(share.mean()) if share is not None else None


def _ends(plain: Array) -> Array | None:
    """Rows that end in zeros, from some step on."""
    kept = (plain != 0).any(2) if plain.ndim > 2 else plain != 0
    share: Array = 1 - np.argmax(kept[:, ::-1], axis=1) / kept.shape[1]
    several = len(np.unique(share)) >= _LENGTHS and float((share < 1).mean()) > _FILLED
    return share if several and kept.any(1).all() else None


def measure(answers: Array, wanted: Array, share: Array) -> DilutedFacts | None:
    """What a straight line leaves open of the variance of what is wanted, by the answers and the shares; and with the answers as they
    would be, had they been divided by the shares (or multiplied with them)."""
    if len(answers) < _LEAST or not wanted.std() or not answers.std():
        return None
    one, spread = np.ones_like(answers), wanted.var()

    def left(*columns: Array) -> tuple[float, Array]:
        table = np.stack([one, answers, share, *columns], 1)
        weights = np.linalg.lstsq(table, wanted, rcond=None)[0]
        return float(((wanted - table @ weights) ** 2).mean() / spread), weights
    plain, (undone, weights), (other, _) = left()[0], left(answers / share, 1 / share), left(answers * share, share**2)
    return DilutedFacts(rows=len(answers), left=plain, undone=undone, other=other, positive=bool(weights[3] > 0),
                        share=float(share.mean()))


def written(script: Path) -> Place | None:
    """The first line on which a script takes a mean over the second axis of something, the steps of rows, or a sum that it divides by what
    is no sum itself."""
    tree = parsed.tree(str(script))
    means_of = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and means(node)]
    sums = [whole.lineno for whole in ast.walk(tree) if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Div)
            and _sums(whole.left) and not _sums(whole.right)]
    lines = sorted(means_of) or sorted(sums)
    return (str(script), lines[0], "") if lines else None


def means(node: ast.AST) -> bool:
    """Whether a call takes the mean over the steps of rows."""
    if not isinstance(node, ast.Call):
        return False
    return name_of(node.func) in _POOLS or (name_of(node.func) in ("mean", "reduce_mean") and _along_steps(node))


def _sums(tree: ast.expr) -> bool:
    return any(isinstance(call, ast.Call) and name_of(call.func) in ("sum", "reduce_sum") and _along_steps(call) for call in ast.walk(tree))


def _along_steps(call: ast.Call) -> bool:
    given = [*call.args, *(word.value for word in call.keywords if word.arg in ("dim", "axis"))]
    return any(ast.unparse(value) in _SECOND for value in given)
