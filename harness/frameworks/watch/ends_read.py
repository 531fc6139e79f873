"""Rows of several lengths that are filled up at their ends: what a model's answers owe to the filler."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.probe_facts import EndsReadFacts
from harness.frameworks.watch import neighbours, parsed
from harness.frameworks.watch.sites import Place

_SAME = 1e-5  # of the distance between rows' answers
_LENGTHS, _ROWS = 3, 3  # of rows that get one answer

Array = np.ndarray[Any, Any]


def measure(given: Array, answers: Callable[[int], Array | None]) -> EndsReadFacts | None:
    """Facts of one batch, `[rows, steps]` ids or `[rows, steps, numbers]`. `answers`: `[rows, ...]` to the first so many steps of it, None
    where the model does not take them. None where nine of ten rows do not end in filler, or what is answered has no row for each."""
    padded = neighbours.padding(given)
    plain = answers(given.shape[1]) if padded is not None else None
    if padded is None or plain is None or plain.shape[:1] != given.shape[:1] or not np.isfinite(plain).all():
        return None
    plain = plain.reshape(len(plain), -1).astype(np.float64)
    width = given.shape[1]
    lengths = np.where(padded.order[:, 0] == 0, width, padded.order[:, 0])
    apart = float(plain.std(0).mean())
    found = EndsReadFacts(rows=len(given), share=padded.share, longest=padded.longest, width=width,
                          unit="steps" if given.ndim > 2 else "tokens")
    if apart <= _SAME * float(np.abs(plain).max()):
        return found
    same = np.abs(plain - plain[lengths.argmin()]).max(1) < _SAME * apart
    upto = int(lengths[same].max())
    # They are those with the most filler, and what they are answered for is not the same.
    if same.sum() >= _ROWS and not same.all() and same[lengths < upto].all() and len(np.unique(lengths[same])) >= _LENGTHS:
        found.same, found.upto = float(same.mean()), upto
    found.narrower = int(np.median(lengths))
    fewer, short = answers(found.narrower), lengths <= found.narrower
    if found.narrower < width and fewer is not None and fewer.reshape(len(fewer), -1).shape == plain.shape and np.isfinite(fewer).all():
        found.moved = float(np.abs(fewer.reshape(plain.shape) - plain)[short].mean()) / apart
    return found



def written(script: Path) -> Place | None:
    """The first line of a model's own pass on which the last step of rows is taken: `states[:, -1]`."""
    passes = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.FunctionDef) and node.name in ("forward", "call")]
    lines = [part.lineno for node in passes for part in ast.walk(node) if isinstance(part, ast.Subscript)
             and isinstance(part.slice, ast.Tuple) and [ast.unparse(axis) for axis in part.slice.elts[:2]] == [":", "-1"]]
    return (str(script), min(lines), "") if lines else None
