"""Pairs that a script holds back from the training of a graph, and which stand in the graph that it trains on all the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from harness.checks.graph_facts import HeldEdgesFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.sites import Place, names_in, site

_NODES, _LARGEST, _DENSE = 30, 1 << 24, 0.5
_PAIRS, _ALL = 20, 0.95
_HELD, _TRAINED = re.compile(r"(^|_)(te|test|val|valid|validation|held|dev|eval|judge|judged|hidden|unseen)(_|$)"), re.compile(
    r"(^|_)(tr|train|training|learn|fit)(_|$)")

Array = np.ndarray[Any, Any]


def find(given: Sequence[Any], frames: Iterable[FrameType], script: Path) -> HeldEdgesFacts | None:
    """Of the graphs among what a model is given in training, a matrix of all pairs of nodes or a list of edges. Only where the script has
    pairs by a name of the training and others by one of an evaluation."""
    named = names_in(frames, script)
    if not any(_HELD.search(name) for name in named):
        return None
    # What a traced function closes over is not among what it is given, nor is what a model keeps.
    known = [*((_name(one, named), one) for one in given), *_called_with(named, script), *_kept(named)]
    graphs = [(name, keys) for name, one in known if (keys := _edges(one)) is not None]
    if not graphs:
        return None
    pairs = {name: found for name, value in named.items() if (found := _pairs(value)) is not None}
    for own, (edges, nodes) in graphs:
        shares = {name: _share(found, edges, nodes) for name, found in pairs.items() if found.max() < nodes}
        trained = [name for name, share in shares.items() if _TRAINED.search(name) and share >= _ALL]
        held = [name for name, share in shares.items() if _HELD.search(name) and share >= _ALL
                and not any(_share(pairs[name], _keys(pairs[other], nodes), nodes) > 1 - _ALL for other in trained)]
        if trained and held:
            return HeldEdgesFacts(names=held, pairs=sum(len(pairs[name]) for name in held), trained=trained[0],
                                  edges=len(edges), site=site(_made(script, own)))
    return None


def _name(one: Any, named: dict[str, Any]) -> str:
    """By which of these names something is known: itself, or a copy of it."""
    own = next((name for name, value in named.items() if value is one), "")
    if own or not isinstance(one, np.ndarray) or one.ndim != 2:
        return own
    alike = [name for name, value in named.items() if tensors.is_array(value) and not isinstance(value, ModuleType)
             and tuple(value.shape) == one.shape]
    return next((name for name in alike if np.array_equal(tensors.array(named[name]), one)), "")


def _kept(named: dict[str, Any]) -> list[tuple[str, Any]]:
    """The buffers of models, each with its model's name."""
    models = [(name, value) for name, value in named.items() if not isinstance(value, type) and hasattr(value, "parameters")]
    return [(name, buffer) for name, model in models if hasattr(model, "buffers") for buffer in model.buffers()]


def _called_with(named: dict[str, Any], script: Path) -> list[tuple[str, Any]]:
    """What the script's text calls a model of these names with, by other names of them."""
    models = {name for name, value in named.items() if hasattr(value, "trainable_variables") or hasattr(value, "parameters")}
    calls = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
             and node.func.id in models]
    names = {part.id for call in calls for part in (*call.args, *(word.value for word in call.keywords)) if isinstance(part, ast.Name)}
    return [(name, named[name]) for name in sorted(names & named.keys())]


def _edges(one: Any) -> tuple[Array, int] | None:
    """Keys of the edges, `first * nodes + second` both ways, and the number of nodes."""
    found = tensors.array(one) if tensors.is_array(one) else None
    if found is None or found.ndim != 2 or not 0 < found.size <= _LARGEST:
        return None
    nodes = len(found)
    if found.shape[0] == found.shape[1] and nodes >= _NODES and found.dtype.kind in "fiub":
        apart = found != 0
        np.fill_diagonal(apart, val=False)
        if not 0 < apart.sum() < _DENSE * apart.size:
            return None
        first, second = np.nonzero(apart)
        return _keys(np.stack([first, second], 1), nodes), nodes
    pairs = _pairs(one)
    if pairs is None or found.shape[0] != 2:
        return None
    nodes = int(pairs.max()) + 1
    return (_keys(pairs, nodes), nodes) if nodes >= _NODES else None


def _pairs(value: Any) -> Array | None:
    """int[pairs, 2]"""
    found = tensors.array(value) if tensors.is_tensor(value) or isinstance(value, np.ndarray) else None
    if found is None or found.ndim != 2 or found.dtype.kind not in "iu" or 2 not in found.shape or not 2 * _PAIRS <= found.size <= _LARGEST:
        return None
    laid: Array = found if found.shape[1] == 2 else found.T
    whole: Array = np.asarray(laid, dtype=np.int64)
    return whole if bool(whole.min() >= 0) else None


def _keys(pairs: Array, nodes: int) -> Array:
    both: Array = np.unique(np.concatenate([pairs[:, 0] * nodes + pairs[:, 1], pairs[:, 1] * nodes + pairs[:, 0]]))
    return both


def _share(pairs: Array, edges: Array, nodes: int) -> float:
    return float(np.isin(pairs[:, 0] * nodes + pairs[:, 1], edges).mean())


def _made(script: Path, name: str) -> Place | None:
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Assign) and any(
        isinstance(part, ast.Name) and part.id == name for target in node.targets for part in ast.walk(target))]
    return (str(script), lines[0], "<module>") if lines else None
