"""Models to which the order of a sequence's steps makes no difference, though they attend from each to the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

Array = np.ndarray[Any, Any]
LEAST_ROWS, LEAST_LENGTH = 4, 5
# Of the largest answer: what adding up in another order changes (a positional part a thousandth of its final size changes more), and by how
# much rows have to be answered differently.
_ROUNDING, _APART = 1e-5, 1e-2
_HASHED, _RANDOM = 2048, 256
_ATTENDING = re.compile(r"(attention|attn)$|transformer(en|de)coder|multihead|scaled_dot", re.IGNORECASE)
_WIDENS = "Embedding|Linear|Dense|Conv1"


def order(length: int) -> list[int]:
    """Another order of so many steps; the first and the last, which a model may take its answer from, stay where they are."""
    return [0, *(1 + np.random.default_rng(0).permutation(length - 2)).tolist(), length - 1]


def positions(values: Array) -> bool:
    """Whether an array `[rows, length]` tells where each step stands: it is the same for every row, or goes up in all of them."""
    return bool((values == values[:1]).all()) or (bool((np.diff(values, axis=1) >= 0).all()) and bool((values[:, -1] > values[:, 0]).all()))


def placed(steps: Array) -> bool:
    """Whether a column of `float[rows, length, columns]` tells that."""
    return any(positions(steps[:, :, column]) and float(np.ptp(steps[:, :, column])) > 0 for column in range(steps.shape[2]))


def is_blind(plain: Sequence[Array], moved: Sequence[Array], to: Sequence[int]) -> bool:
    """Whether answers, float[rows, ...], are the same when the steps come in the order `to`; those for each step, in that order."""
    if not plain or len(plain) != len(moved):
        return False
    one: Array = plain[-1].astype(np.float64)
    other: Array = moved[-1].astype(np.float64)
    apart = float(np.abs(one - np.roll(one, 1, axis=0)).mean())
    if one.ndim > 2 and one.shape[1] == len(to):
        one = one[:, list(to)]
    largest = float(np.abs(one).max())
    return one.shape == other.shape and apart > _APART * largest and float(np.abs(one - other).max()) < _ROUNDING * largest


def attends(script: Path) -> bool:
    """Whether a script builds attention of its own, by the names in its text; models of transformers bring positions along."""
    names = (getattr(node, part, "") for node in ast.walk(parsed.tree(str(script)))
             for part in ({ast.ClassDef: "name", ast.Name: "id", ast.Attribute: "attr"}.get(type(node), ""),) if part)
    return any(_ATTENDING.search(name) for name in names)


def embedding(script: Path) -> Place | None:
    """The first line on which a class of the script looks up the ids that it is given in its first table, or widens what it is given."""
    for owner in (node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.ClassDef)):
        tables = [target.attr for node in ast.walk(owner) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
                  and re.search(_WIDENS, name_of(node.value.func))
                  for target in node.targets if isinstance(target, ast.Attribute)]
        tables += [target.attr for node in ast.walk(owner) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
                   for names in node.targets if isinstance(names, ast.Tuple)
                   for target, value in zip(names.elts, node.value.elts, strict=False)
                   if isinstance(target, ast.Attribute) and isinstance(value, ast.Call) and re.search(_WIDENS, name_of(value.func))]
        body = next((node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name in ("forward", "call")), None)
        given = {argument.arg for argument in body.args.args[1:]} if body is not None else set()
        for call in (node for node in ast.walk(body) if isinstance(node, ast.Call)) if body is not None else ():
            if name_of(call.func) in tables and any(isinstance(part, ast.Name) and part.id in given for part in call.args):
                return str(script), call.lineno, body.name if body is not None else ""
    return None


def of_tokens(rows: Sequence[Any]) -> tuple[Array, Array]:
    """Features of rows of ids, without their order and with it: counts in hashed columns, and where on average each stands."""
    counts: Array = np.zeros((len(rows), _HASHED), np.float32)
    places: Array = np.zeros_like(counts)
    longest = max(len(row) for row in rows)
    for number, row in enumerate(rows):
        columns = np.asarray(row, dtype=np.int64) * 7919 % _HASHED
        np.add.at(counts[number], columns, 1)
        np.add.at(places[number], columns, np.arange(len(columns)) / longest)
    return np.log1p(counts), np.hstack([np.log1p(counts), places / np.maximum(counts, 1)])


def of_steps(rows: Sequence[Any]) -> Array:
    """Features of rows of numbers, float[length, columns], without their order: what random units make of each step, on average."""
    steps = np.stack([np.asarray(row, dtype=np.float32) for row in rows])
    steps = np.nan_to_num((steps - steps.mean((0, 1))) / (steps.std((0, 1)) + 1e-6))
    generator = np.random.default_rng(0)
    drawn, offsets = generator.normal(size=(steps.shape[2], _RANDOM)), generator.normal(size=_RANDOM)
    made: Array = np.maximum(steps @ drawn / np.sqrt(steps.shape[2]) + offsets, 0).mean(1).astype(np.float32)
    features: Array = np.hstack([made, steps.mean(1)])
    return features
