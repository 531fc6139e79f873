"""Losses over the tokens of a sequence: how far the target of each position is from the token that the model is given there, and
whether the answer to a position owes to tokens behind it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.probe_facts import ShiftFacts
from harness.checks.raised import LABELS
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

Array = np.ndarray[Any, Any]
# Instead of the first ids the second are to be given.
Exchange = tuple[Array, Array]

_OFFSETS = (0, 1, 2, 3)
_SHORTEST, _LEAST, _MOST = 5, 32, 1 << 25
_KINDS = 3
_AGREES, _APART = 0.98, 0.9
_MOSTLY = 0.5  # of the counted positions have a token there
_MOVED, _ROUNDING = 1e-3, 1e-5
_PARTED = 10  # rows are parted so far from their first one, and tokens moved by fewer
_COPIES = ("copy", "clone", "deepcopy", "identity")
_TOGETHER = 3  # lines within which inputs and targets are cut from the same rows


@dataclass
class _Layout:
    """Ids int[rows, length]; targets int[rows, width], from position `start` on. `turned`: both came with the rows second."""

    ids: Array
    targets: Array
    turned: bool
    start: int = 0


def measure(given: Iterable[Array], target: Array, outputs: Callable[[Exchange | None], Sequence[Array]], ignored: Sequence[int],
            by_token: Callable[[int, int], bool]) -> ShiftFacts | None:
    """Where targets stand beside ids in one step; None where they are not the same tokens.

    `given`: what the model is given; `outputs`: what it gives in evaluation mode, last what the loss is given; `ignored`: targets that the
    loss leaves out; `by_token`: whether the model keeps everything token by token, for so many rows and tokens. Of several inputs that hold
    the targets (the two sides of a copying task) the one that answers are made from in order counts.
    """
    if target.dtype.kind not in "iu" or target.size > _MOST:
        return None
    plain, found = outputs(None), []
    if not plain or plain[-1].size > _MOST:
        return None
    for layout in _layouts(given, target):
        scores = _scores(layout, plain[-1])
        if scores is None:
            continue
        layout.start = _start(layout, scores, plain[:-1])
        counted = ~np.isin(layout.targets, list(ignored))
        if len(np.unique(layout.targets[counted])) < _KINDS:
            continue  # one token alone, padding say, stands at every distance from itself
        shares = {offset: share for offset in _OFFSETS if (share := _share(layout, offset, counted)) is not None}
        offset = max(shares, key=lambda key: shares[key], default=None)
        if offset == 0 and layout.turned:
            continue  # in one row of targets both orders are the same, and the other one was looked at
        if offset is None or shares[offset] < _AGREES or any(share > _APART for key, share in shares.items() if key != offset):
            continue
        rows, length = layout.ids.shape
        read, causal, lag = _read(layout, counted, scores, outputs)
        if read is not False:  # labels are given to a model as well, and do not reach its scores
            found.append(ShiftFacts(offset=offset, share=shares[offset], rows=rows, length=length, causal=causal, lag=lag))
    if not found:
        return None
    best = next((facts for facts in found if facts.causal and facts.offset + (facts.lag or 0) == 1), found[0])
    best.by_token = len(found) == 1 and by_token(best.rows, best.length)
    return best


def of_a_row(shape: Sequence[int | None], rows: int, length: int) -> bool:
    """Whether a tensor of this shape, made inside a model, holds one vector for each of its rows."""
    if len(shape) <= 2:
        return len(shape) == 2 and shape[0] == rows
    return rows in shape[:2] and not any(size in (length, length - 1) for size in shape)


def ahead(before: Array, after: Array, exchange: Exchange) -> bool:
    """Whether what a model made of ids differs in front of the first one that was exchanged, given that one of its axes alone is as long
    as the sequences: scores of each token against each other know them all. Where there are as many rows as tokens, rows come first."""
    rows, length = exchange[0].shape
    axes = [axis for axis, size in enumerate(before.shape) if size == length and (axis or rows != length)]
    if before.shape != after.shape or len(axes) != 1:
        return False
    first = int(np.flatnonzero((exchange[0] != exchange[1]).any(0))[0])
    parts = [np.take(array, range(first), axes[0]) for array in (before, after)]
    return bool(np.abs(parts[0] - parts[1]).max(initial=0.0) > _MOVED * (float(np.abs(before).max()) or 1.0))


def set_when_made(kind: str) -> bool:
    """Whether a layer of this class looks ahead because of how it was made, and not of how it is called."""
    return bool(re.search(r"Conv|Bidirectional|LSTM|GRU|RNN", kind))


def _layouts(inputs: Iterable[Array], target: Array) -> Iterator[_Layout]:
    """The ways in which ids that a model is given and targets may be the same sequences."""
    known: list[Array] = []
    for given in inputs:
        if given.ndim != 2 or given.dtype.kind not in "iu" or not given.size or any(np.array_equal(given, other) for other in known):
            continue
        known.append(given)
        for turned in (False, True):
            ids = given.T if turned else given
            rows, length = ids.shape
            if length < _SHORTEST or target.size % rows or not _SHORTEST - 2 <= target.size // rows <= length:
                continue
            width = target.size // rows
            if turned:
                yield _Layout(ids, target.reshape(width, rows).T, turned)
            elif target.ndim < 2 or target.shape[0] == rows:
                yield _Layout(ids, target.reshape(rows, width), turned)


def _scores(layout: _Layout, scores: Array) -> Array | None:
    """Scores as float[rows, width or more, classes]; None where they are of another shape."""
    rows, width = layout.targets.shape
    length = layout.ids.shape[1]
    if scores.ndim == 2 and scores.shape[0] in (rows * width, rows * length):
        each = scores.shape[0] // rows
        return scores.reshape(each, rows, -1).swapaxes(0, 1) if layout.turned else scores.reshape(rows, each, -1)
    if scores.ndim != 3:
        return None
    axes = (1, 0) if layout.turned else (0, 1)
    if scores.shape[axes[0]] == rows and width <= scores.shape[axes[1]] <= length:
        return scores.swapaxes(0, 1) if layout.turned else scores
    return scores.swapaxes(1, 2) if scores.shape[0] == rows and width <= scores.shape[2] <= length else None


def _start(layout: _Layout, scores: Array, made: Sequence[Array]) -> int:
    """At which position of a model's output the scores that the loss is given begin."""
    for output in made:
        whole = _scores(layout, output)
        if whole is None or whole.shape[1] != layout.ids.shape[1] or whole.shape[2] != scores.shape[2]:
            continue
        for start in range(whole.shape[1] - scores.shape[1] + 1):
            if np.array_equal(whole[:, start], scores[:, 0]):
                return start
    return 0


def _share(layout: _Layout, offset: int, counted: Array) -> float | None:
    """The share of counted positions whose target is the token `offset` places on; of those that have one there, and no padding."""
    begin = layout.start + offset
    width = min(layout.targets.shape[1], layout.ids.shape[1] - begin)
    if width < 2:
        return None
    known = counted[:, :width] & ~_filled(layout.ids)[:, begin:begin + width]
    if known.sum() < max(_LEAST, _MOSTLY * counted.sum()):
        known = counted[:, :width]
    if known.sum() < _LEAST:
        return None
    same = layout.targets[:, :width] == layout.ids[:, begin:begin + width]
    return float(same[known].mean())


def _filled(ids: Array) -> Array:
    """Where rows end in the token that most of them end in: the last target of a row stands nowhere in what the model is given."""
    values, counts = np.unique(ids[:, -1], return_counts=True)
    tail: Array = np.logical_and.accumulate((ids == values[counts.argmax()])[:, ::-1], axis=1)[:, ::-1]
    return tail if counts.max() > 1 else np.zeros_like(tail)


def _read(layout: _Layout, counted: Array, plain: Array,
          outputs: Callable[[Exchange | None], Sequence[Array]]) -> tuple[bool | None, bool | None, int | None]:
    """Whether scores change when the ids behind the middle of the counted positions are exchanged between rows, whether those up to there
    stay as they are, and how many places behind the first exchanged id the first score changes; None where that cannot be tried."""
    ids, places = layout.ids, np.flatnonzero(counted.any(0))
    if len(places) < 2 or ids.shape[0] < 2:
        return None, None, None
    half = int(places[(len(places) - 1) // 2])
    # Texts of one form have the same token at some places in every row: what is exchanged there tells nothing.
    differs = [place for place in places.tolist() if (column := ids[:, layout.start + place + 1:layout.start + place + 2]).size
               and (column != np.roll(column, 1, 0)).any()]
    middle = min(differs, key=lambda place: abs(place - half), default=half)
    behind = layout.start + middle + 1
    changed = ids.copy()
    changed[:, behind:] = np.roll(ids[:, behind:], 1, 0)
    if np.array_equal(changed, ids):
        return None, None, None
    found = outputs((ids.T, changed.T) if layout.turned else (ids, changed))
    after = _scores(layout, found[-1]) if found else None
    if after is None or after.shape != plain.shape:
        return None, None, None
    difference = np.abs(after - plain).max(-1) / (float(np.abs(plain).max()) or 1.0)
    moved = difference > _MOVED
    first = np.flatnonzero((difference > _ROUNDING)[changed[:, behind] != ids[:, behind]].any(0))
    lag = int(first[0]) - (middle + 1) if len(first) else None
    return bool(moved.any()), not bool(moved[:, :middle + 1][counted[:, :middle + 1]].any()), lag


def written(script: Path) -> Place | None:
    """The line of a script that keeps rows from their second token on, `ids[:, 1:]` or `tokens[at + 1:at + n]`, read off its text: a
    column of labels first. Of several lines far from each other those count that give it a name of labels; None where that leaves none, or
    several."""
    nodes = list(ast.walk(parsed.tree(str(script))))
    found = [node for node in nodes if isinstance(node, ast.Assign) and any(map(_later, ast.walk(node.value)))]
    named = [node for node in found if any(getattr(part, "id", "") in LABELS for target in node.targets for part in ast.walk(target))]
    columns = [value for node in nodes if isinstance(node, ast.Dict) for key, value in zip(node.keys, node.values, strict=True)
               if getattr(key, "value", "") in LABELS and any(map(_later, ast.walk(value)))]
    choices: list[list[ast.expr] | list[ast.Assign]] = [columns, found, named]
    for chosen in choices:
        lines = sorted(node.lineno for node in chosen)
        if lines and lines[-1] - lines[0] <= _TOGETHER:
            return str(script), lines[-1], "<module>"
    return None


def copied(script: Path) -> Place | None:
    """The first line of a script that makes labels a copy of something, `labels = ids.copy()`, read off its text."""
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Assign)
             and isinstance(node.value, ast.Call) and getattr(node.value.func, "attr", "") in _COPIES
             and any(getattr(target, "id", "") in LABELS for target in node.targets)]
    return (str(script), min(lines), "<module>") if lines else None


def _later(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or getattr(node.value, "attr", "") == "argv":
        return False
    last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    begin = last.lower if isinstance(last, ast.Slice) else None
    if isinstance(begin, ast.BinOp) and isinstance(begin.op, ast.Add):
        begin = begin.right
    return isinstance(begin, ast.Constant) and isinstance(begin.value, int) and 0 < begin.value < _PARTED
